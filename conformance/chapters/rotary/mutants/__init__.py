"""Ways to get rotary positions wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "call",
    "axis",
    "rotation",
    "frequencies",
    "gradients",
    "precision",
    "earlier_calls",
    "positions",
    "some_features",
    "scaling",
    "in_attention",
    "together",
    "vacuous",
)
