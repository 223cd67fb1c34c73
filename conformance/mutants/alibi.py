"""Ways to get alibi wrong: the reference with one function replaced."""
