"""Ways to get rotary wrong: the reference with one function replaced."""
