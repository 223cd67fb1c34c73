"""Grading: many submissions, none trusted, by a rubric that is fixed before any of them runs."""
