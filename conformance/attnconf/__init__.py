"""Specification, readable reference and conformance suite for attention."""

__version__ = "0.1.0"
