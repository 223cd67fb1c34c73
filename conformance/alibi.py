"""Checks of the chapter spec/alibi.md."""
