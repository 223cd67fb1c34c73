"""Ways to get a language model wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("call", "dependence", "layers", "embedding", "head", "training", "precision", "together", "vacuous")
