"""How fast: contenders timed side by side, in ratios to an anchor that is timed in the same rounds.

``measuring.time_case`` measures one case and returns what ends up in a results file. Conformance never depends on any
of this.
"""
