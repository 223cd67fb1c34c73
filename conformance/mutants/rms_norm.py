"""Mutants of the chapter spec/rms_norm.md."""
