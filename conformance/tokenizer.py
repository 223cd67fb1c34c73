"""Checks of the chapter spec/tokenizer.md."""
