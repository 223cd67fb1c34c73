"""Checks of the chapter spec/fourier.md."""
