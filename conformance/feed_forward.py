"""Checks of the chapter spec/feed_forward.md."""
