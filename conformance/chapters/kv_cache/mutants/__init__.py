"""Ways to get a cache wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("chunks", "members", "positions", "padding", "caches", "vacuous")
