"""Ways to get feed-forward networks wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("result", "position_wise", "layers", "activation", "gate", "dropout", "precision", "gradients", "vacuous")
