"""Ways to get Fourier features wrong, by section."""

# Of mutants that fit equally well, the first is named.
SECTIONS = ("angles", "coordinates", "order", "call", "random_features", "vacuous")
