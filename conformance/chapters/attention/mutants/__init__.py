"""Ways to get scaled dot-product attention wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "scale",
    "scores",
    "softmax",
    "participants",
    "call",
    "returned_weights",
    "gradients",
    "dropout",
    "edges",
    "vacuous",
)
