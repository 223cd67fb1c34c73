"""Names that students chose, made fit to be printed and to be a file's name."""

import hashlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 80  # characters of a key
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)  # files of no name on Windows


def shown(name: str) -> str:
    """Return a name on one line, with what no screen shows as escapes; two names are never shown alike."""
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in name)


def keys(names: Iterable[str]) -> dict[str, str]:
    """Return a file's name for each name: itself where it can be one, else what is left of it and a short hash.

    They differ also where upper and lower case are one, whatever the names are; which they are depends on nothing else.
    """
    every = sorted(set(names))
    alike = Counter(name.lower() for name in every)
    found = {name: name for name in every if is_safe(name) and alike[name.lower()] == 1}
    taken = {name.lower() for name in found}
    for name in every:
        if name not in found:
            found[name] = next(key for key in _made(name) if key.lower() not in taken)
            taken.add(found[name].lower())
    return found


def is_safe(name: str) -> bool:
    """Return whether a name can be a file's name everywhere, and no option of a command."""
    fits = _SAFE.fullmatch(name) is not None and len(name) <= LONGEST and not name.endswith(".")
    return fits and not _DEVICES.fullmatch(name)


def _made(name: str) -> Iterable[str]:
    raw = os.fsencode(name)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[: LONGEST - 10]
    stem = f"of-{stem}" if not stem or _DEVICES.fullmatch(stem) else stem
    for attempt in itertools.count():
        yield f"{stem}-{hashlib.sha256(raw + bytes(attempt)).hexdigest()[:8]}"
