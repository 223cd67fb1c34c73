"""Checks of the chapter spec/attention_family.md. Each compares the subject with itself, or with a closed form."""

SECTIONS = ("groups", "scores", "windows", "norms", "positions", "offsets", "sinks", "together")
