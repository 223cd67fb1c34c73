"""Ways to get encoder, decoder and Transformer together wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "call",
    "dependence",
    "memory",
    "layers",
    "padding",
    "embedding",
    "logits",
    "training",
    "precision",
    "together",
    "learning",
    "vacuous",
)
