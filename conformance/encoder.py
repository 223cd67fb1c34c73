"""Checks of the chapter spec/encoder.md."""
