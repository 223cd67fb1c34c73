"""Ways to get learned positions wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("result", "rows", "added", "table_end", "gradients", "positions", "training", "long_tables", "vacuous")
