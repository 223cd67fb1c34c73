"""Ways to get multi-head attention wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("projections", "biases", "heads", "sizes", "paths", "returned_weights", "gradients", "state", "vacuous")
