"""Known deviations of an adapter from the spec, in a TOML file beside it: each with a requirement, a reason and a link.

    [[deviation]]
    requirement = "MASK-EMPTY-2"
    component = "multi_head_attention"
    variant = "flash"                    # optional
    device = "cpu"                       # optional
    sometimes = "…"                      # optional: on which machines of that kind it is not seen
    reason = "…"
    link = "https://…"

A known deviation stays a failure in the results and in the verdict; it does not fail the run. An entry that is
malformed, names nothing in the spec, or is no longer seen to fail where it always should is an error.
"""

import tomllib
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.request import Implementation
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
    device: str | None = None  # "cpu": known on that kind of device only; None: on all
    sometimes: str | None = None  # where it is not seen; None: it always is


def load(implementation: Implementation, device: str = "cpu") -> list[Deviation]:
    """Return the known deviations of an implementation on a device. Raises DeviationError."""
    if not implementation.source.endswith(".py"):
        return []
    path = Path(implementation.source).with_suffix(".deviations.toml")
    if not path.is_file():
        return []
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeviationError(f"{path.name} is not TOML: {error}") from None
    entries = content.pop("deviation", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DeviationError(
            f"{path.name} may hold nothing but tables [[deviation]], found {', '.join(content) or entries!r}"
        )
    deviations = [_parse(entry, f"{path.name}: entry {n}") for n, entry in enumerate(entries, start=1)]
    variant = implementation.name.rpartition(":")[2] if ":" in implementation.name else None
    kind = device.partition(":")[0]
    return [d for d in deviations if d.variant in (None, variant) and d.device in (None, kind)]


def _parse(entry: dict[str, Any], where: str) -> Deviation:
    """Return one entry. Raises DeviationError, with ``where`` and the mistake."""
    keys = {field.name: field.default is MISSING for field in fields(Deviation)}
    for key in entry:
        if key not in keys:
            raise DeviationError(f"{where} has {key!r}, which is none of {', '.join(keys)}")
    for key, needed in keys.items():
        if needed and key not in entry:
            raise DeviationError(f"{where} has no {key!r}")
        if key in entry and not (isinstance(entry[key], str) and entry[key].strip()):
            raise DeviationError(f"{where}: {key} is {entry[key]!r}, want words")
    if entry["component"] not in COMPONENTS:
        raise DeviationError(f"{where}: component is {entry['component']!r}, want one of {', '.join(COMPONENTS)}")
    if not entry["link"].startswith(("https://", "http://")):
        raise DeviationError(f"{where}: link is {entry['link']!r}, want an address that begins with https://")
    try:
        registry.get(entry["requirement"])
    except registry.SpecError as error:
        raise DeviationError(f"{where}: {error}") from None
    return Deviation(**entry)
