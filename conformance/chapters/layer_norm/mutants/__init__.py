"""Ways to get LayerNorm wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("call", "axes", "epsilon", "gain_and_shift", "several_axes", "numbers", "gradients", "together", "vacuous")
