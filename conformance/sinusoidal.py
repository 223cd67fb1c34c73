"""Checks of the chapter spec/sinusoidal.md."""
