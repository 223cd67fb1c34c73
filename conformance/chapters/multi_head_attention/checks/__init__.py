"""Checks of the chapter spec/multi_head_attention.md. Most change weights and inputs so that nothing may change."""

SECTIONS = ("sizes", "projections", "biases", "heads", "paths", "returned", "together")
