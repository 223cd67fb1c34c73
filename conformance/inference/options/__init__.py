"""Arguments that a binding leaves out, each asked what it does: what is broken is not absent."""
