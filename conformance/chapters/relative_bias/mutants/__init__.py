"""Ways to get T5's relative bias wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("direction", "buckets", "distances", "table", "in_attention", "vacuous")
