"""Checks of the chapter spec/language_model.md.

Most compare the model with itself: other ids where they must not matter, or layers that add nothing.
"""

SECTIONS = ("dependence", "layers", "embedding", "head", "training", "precision", "together")
