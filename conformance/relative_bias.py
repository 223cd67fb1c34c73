"""Checks of the chapter spec/relative_bias.md."""
