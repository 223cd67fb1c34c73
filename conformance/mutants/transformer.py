"""Mutants of the chapter spec/transformer.md."""
