"""Ways to get learned wrong: the reference with one function replaced."""
