"""Ways to get the encoder wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "call",
    "residuals",
    "sublayers",
    "placement",
    "members",
    "scores",
    "scales",
    "relative",
    "attention",
    "padding",
    "stack",
    "modes",
    "configuration",
    "precision",
    "learning",
    "vacuous",
)
