"""Ways to get the family of attention wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("groups", "scores", "windows", "norms", "positions", "partial", "offsets", "sinks", "vacuous")
