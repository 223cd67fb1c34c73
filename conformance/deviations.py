"""Known deviations of an adapter, in a file beside it: each with a requirement, a reason and a link.

    [[deviation]]
    requirement = "MASK-EMPTY-2"
    component = "multi_head_attention"
    variant = "flash"                    # optional
    reason = "…"
    link = "https://…"

A known deviation stays a failure in the results and in the verdict; it does not fail the run. An entry that is
malformed, names nothing in the spec, or is no longer seen to fail is an error.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from attnconf.conformance.door import Implementation
from attnconf.spec import registry


class DeviationError(Exception):
    """The deviations file is wrong; the message says where."""


@dataclass(frozen=True)
class Deviation:
    requirement: str
    component: str
    reason: str
    link: str
    variant: str | None = None


def load(implementation: Implementation) -> list[Deviation]:
    """Return the deviations known of an implementation. Raises DeviationError."""
    if not implementation.source.endswith(".py"):
        return []
    path = Path(implementation.source).with_suffix(".deviations.toml")
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", [])
        found = [Deviation(**entry) for entry in entries]
        for deviation in found:
            registry.get(deviation.requirement)
    except (tomllib.TOMLDecodeError, TypeError, registry.SpecError) as error:
        raise DeviationError(f"{path.name}: {error}") from None
    variant = implementation.name.rpartition(":")[2] if ":" in implementation.name else None
    return [d for d in found if d.variant in (None, variant)]
