"""Ways to get tokenizers wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = (
    "ids",
    "words",
    "characters",
    "unknown",
    "merges",
    "special_tokens",
    "earlier_calls",
    "decoding",
    "learning",
    "vacuous",
)
