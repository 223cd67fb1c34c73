"""Checks of the chapter spec/transformer.md.

Most compare the model with itself: other tokens where they must not matter, or layers that add nothing.
"""

SECTIONS = ("dependence", "memory", "layers", "padding", "tokens", "training", "precision", "together")
