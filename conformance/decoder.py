"""Checks of the chapter spec/decoder.md."""
