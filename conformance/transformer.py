"""Checks of the chapter spec/transformer.md."""
