"""Ways to get the laws of every call wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("comes_out", "left_behind", "no_matter", "vacuous")
