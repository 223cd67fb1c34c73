"""The checks. `pytest conformance --impl NAME` from a checkout, `attnconf run --impl NAME` from anywhere."""
