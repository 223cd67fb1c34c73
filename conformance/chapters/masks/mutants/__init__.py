"""Ways to get masks wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "polarity",
    "fill",
    "after_softmax",
    "shape",
    "padding",
    "several",
    "causality",
    "empty_rows",
    "biases",
    "vacuous",
)
