"""Checks of the chapter spec/attention.md. Each compares the subject with itself, or with a closed form."""

SECTIONS = ("rows", "scores", "returned", "together")
