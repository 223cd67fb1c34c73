"""Ways to get sinusoidal positions wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "result",
    "added",
    "sines",
    "angles",
    "table_end",
    "precision",
    "positions",
    "training",
    "together",
    "grid",
    "vacuous",
)
