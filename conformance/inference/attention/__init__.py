"""Besides for attention: readings of its parts, flags, members of the family."""
