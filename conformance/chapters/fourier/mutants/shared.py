"""Ways to get Fourier features wrong: what the mutants of several sections use."""

from attnconf.reference import fourier


def features(change):
    """Return Fourier features, changed by a function of (x, features)."""
    return lambda x, frequencies: change(x, fourier.fourier(x, frequencies))


def by_the_largest(x):
    """Return the coordinates divided by the largest of them."""
    return x / x.abs().max().clamp_min(1e-9) if len(x) else x
