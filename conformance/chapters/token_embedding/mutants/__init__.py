"""Ways to get token embeddings wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("result", "rows", "refused", "gradients", "padding", "in_attention", "vacuous")
