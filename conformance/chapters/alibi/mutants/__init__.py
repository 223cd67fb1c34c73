"""Ways to get ALiBi wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("slopes", "distances", "result", "in_attention", "vacuous")
