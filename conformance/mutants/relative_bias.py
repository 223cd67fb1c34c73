"""Ways to get relative_bias wrong: the reference with one function replaced."""
