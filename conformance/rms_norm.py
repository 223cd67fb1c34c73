"""Checks of the chapter spec/rms_norm.md."""
