"""Ways to get RMSNorm wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("call", "axes", "epsilon", "gain", "numbers", "gradients", "together", "vacuous")
