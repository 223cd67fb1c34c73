"""Calls of Linux that Python has no function for; each gives -1 where a system does not have it, or refuses."""

import ctypes
from functools import cache
from typing import Any

_NUMBERS = {  # the same on all processors: they came after the numbers were made one
    "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
}  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def call(name: str, *arguments: Any) -> int:
    """Return what a call gives; -1 where it is refused, or there is none. Integers are passed as longs."""
    try:
        given = [ctypes.c_long(x) if isinstance(x, int) else x for x in arguments]
        if name in _NUMBERS:
            return int(_library().syscall(ctypes.c_long(_NUMBERS[name]), *given))
        return int(getattr(_library(), name)(*given))
    except Exception:
        return -1
