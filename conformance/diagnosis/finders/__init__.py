"""Finders: functions that return the places of a text whose code has a certain shape, ``x.view(b, n, h, d)`` say.

The table in by_mutant.py says which mutant's mistake has which shape. A shape is looked for only after the numbers have
shown the mistake, so it may also be the shape of right code.
"""
