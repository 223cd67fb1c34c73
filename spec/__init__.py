"""The specification: Markdown pages, and the registry of requirements parsed from them."""
