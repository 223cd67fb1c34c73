"""Mutants of the chapter spec/decoder.md."""
