"""Checks of the chapter spec/kv_cache.md. Most compare a layer in steps with itself in one chunk."""

SECTIONS = ("chunks", "members", "padding", "caches", "together")
