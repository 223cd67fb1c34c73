"""Ways to get coordinate_mlp wrong: the reference with one function replaced."""
