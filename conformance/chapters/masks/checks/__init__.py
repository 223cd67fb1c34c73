"""Checks of the chapter spec/masks.md. Each compares the subject with itself, or with a closed form."""

SECTIONS = ("effect", "whose", "causality", "empty_rows", "biases", "together")
