"""What usually breaks a requirement and what mends it: shown under a failure that no known mistake reproduces.

A family of requirements has a sentence in usual_causes.toml. Elsewhere it is the hint of a known mistake that breaks
the requirement: the one with the fewest other effects, those that were seen in the wild first.
"""

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from attnconf.conformance.engine.catalogue import mutant_texts


@cache
def families() -> dict[str, str]:
    """Return what to look at first, by patterns of ids: the first that an id matches counts."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def usual_cause(requirement: str) -> str | None:
    """Return what to look at first where a requirement does not hold, or None where nothing is known of it."""
    family = next((words for pattern, words in families().items() if fnmatchcase(requirement, pattern)), None)
    breaking = [m for m in mutant_texts().values() if requirement in m.breaks and m.hint]
    likely = min(breaking, key=lambda m: (len(m.breaks), not m.source), default=None)
    return family or (likely.hint if likely else None)
