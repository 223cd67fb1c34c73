"""Checks of the chapter spec/tokenizer.md.

Texts that show one rule each are written here; the umbrellas draw theirs.
"""

SECTIONS = ("ids", "unknown", "merges", "special_tokens", "together", "decoding", "learning")
