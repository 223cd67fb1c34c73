"""Ways to get sinusoidal positions wrong: what the mutants of several sections use."""


def add_to(x, encoded):
    return x + encoded.to(x.dtype)
