"""The usual cause of a failure and its cure: printed under a failure that no mutant reproduces.

A family of requirements may have a sentence in usual_causes.toml. For any other requirement the hint of a mutant stands
in: the mutant that breaks it and fewest others. Mutants seen in the wild come first.
"""

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from attnconf.conformance.engine.catalogue import mutant_texts


@cache
def families() -> dict[str, str]:
    """Return the sentences of usual_causes.toml by pattern of ids; the first pattern that matches an id counts."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def usual_cause(requirement: str) -> str | None:
    """Return what to look at first if a requirement does not hold, or None if nothing is known."""
    family = next((words for pattern, words in families().items() if fnmatchcase(requirement, pattern)), None)
    breaking = [m for m in mutant_texts().values() if requirement in m.breaks and m.hint]
    likely = min(breaking, key=lambda m: (len(m.breaks), not m.source), default=None)
    return family or (likely.hint if likely else None)
