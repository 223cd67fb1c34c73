"""Checks of the chapter spec/rotary.md.

Most read the rotation off as a matrix, from unit vectors at the first few positions, where float32 tables are exact
enough to judge meaning; long positions are judged by how errors of float32 angles grow.
"""

SECTIONS = ("rotation", "precision", "positions", "some_features", "scaling", "in_attention")
