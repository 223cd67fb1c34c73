"""Checks of the chapter spec/coordinate_mlp.md."""
