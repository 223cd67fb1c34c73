"""A small component is a family of texts: written in every likely way, run, and compared."""
