"""Ways to get decoder layers, and stacks of them, wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "call",
    "residuals",
    "layer",
    "targets",
    "memory",
    "stack",
    "gradients",
    "dropout",
    "precision",
    "together",
    "vacuous",
)
