"""Mutants of the chapter spec/encoder.md."""
