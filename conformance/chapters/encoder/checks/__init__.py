"""Checks of the chapter spec/encoder.md.

A law of one layer is judged on a layer, and, where the component is a stack, on a stack of one; in every order of norm
and sublayer that the subject has.
"""

SECTIONS = (
    "layer",
    "placement",
    "members",
    "scales",
    "relative",
    "padding",
    "stack",
    "modes",
    "together",
    "configuration",
    "precision",
    "learning",
)
