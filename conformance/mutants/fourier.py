"""Ways to get fourier wrong: the reference with one function replaced."""
