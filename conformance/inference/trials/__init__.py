"""Bindings as values, and how one is proved: careful calls of foreign code, fresh weights, the one prover."""
