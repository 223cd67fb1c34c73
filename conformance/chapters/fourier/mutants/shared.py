"""Ways to get Fourier features wrong: what the mutants of several sections use."""

from attnconf.reference import fourier


def features(change):
    """Return Fourier features, changed by a function of (x, features)."""
    return lambda x, frequencies: change(x, fourier.fourier(x, frequencies))
