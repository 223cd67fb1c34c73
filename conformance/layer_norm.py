"""Checks of the chapter spec/layer_norm.md."""
