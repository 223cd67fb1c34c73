"""Mutants of the chapter spec/tokenizer.md."""
