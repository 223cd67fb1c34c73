"""Timing: contenders are timed side by side, in ratios to an anchor that is timed in the same rounds.

``measuring.time_case`` measures one case and returns its entry in a results file. No verdict depends on a time.
"""
