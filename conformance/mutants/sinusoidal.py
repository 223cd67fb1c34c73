"""Ways to get sinusoidal wrong: the reference with one function replaced."""
