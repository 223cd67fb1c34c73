"""Checks of the chapter spec/token_embedding.md."""
