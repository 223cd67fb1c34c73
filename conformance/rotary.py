"""Checks of the chapter spec/rotary.md."""
