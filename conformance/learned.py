"""Checks of the chapter spec/learned.md."""
