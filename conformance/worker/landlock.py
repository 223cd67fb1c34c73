"""Landlock of Linux: a process allows itself some files and folders, and no others, for good."""

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from attnconf.conformance.worker import kernel

_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _CONTROL = 1, 2, 4, 8, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL  # the others are of folders
_KNOWN = {1: 13, 2: 14, 3: 15, 5: 16}  # by version: how many kinds of access to files it knows
COMPLETE = 3  # the first version that knows all ways to write
_WITH_NETWORKS, _WITH_SCOPES = 4, 6
_TCP, _OTHERS_SOCKETS_AND_SIGNALS = 3, 3  # to bind and connect; neither is allowed to anybody
_TELL_VERSION, _BENEATH = 1, 1
SEES, READS, USES, WRITES = _LIST, _EXECUTE | _READ | _LIST, _WRITE | _READ | _LIST | _TRUNCATE | _CONTROL, -1
Rules = Iterable[tuple[str, int]]  # paths with what is allowed of them, and below: SEES names, READS, USES or WRITES


def version() -> int:
    """Return the version that the kernel has; 0 or less where it has none."""
    return kernel.call("landlock_create_ruleset", None, 0, _TELL_VERSION)


def restrict(rules: Rules) -> bool:
    """Allow this process, and what it starts, no files but these; return whether all else is refused.

    Paths that do not exist are left out. The process must have one thread: others would keep their rights.
    """
    here = version()
    if here < 1:
        return False
    known = (1 << max(count for first, count in _KNOWN.items() if first <= here)) - 1
    handled = struct.pack("Q", known)
    handled += struct.pack("Q", _TCP) if here >= _WITH_NETWORKS else b""
    handled += struct.pack("Q", _OTHERS_SOCKETS_AND_SIGNALS) if here >= _WITH_SCOPES else b""
    ruleset = kernel.call("landlock_create_ruleset", ctypes.create_string_buffer(handled), len(handled), 0)
    if ruleset < 0:
        return False
    try:
        for path, allowed in rules:
            _add(ruleset, path, known if allowed == WRITES else allowed & known)
        alone = _threads() == 1
        return kernel.call("landlock_restrict_self", ruleset, 0) == 0 and here >= COMPLETE and alone
    finally:
        os.close(ruleset)


def _add(ruleset: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]  # Linux's
    except OSError:
        return
    try:
        allowed &= -1 if os.path.isdir(path) else _OF_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, place))
        kernel.call("landlock_add_rule", ruleset, _BENEATH, rule, 0)
    finally:
        os.close(place)


def _threads() -> int:
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return 0
