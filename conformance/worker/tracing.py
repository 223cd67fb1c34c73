"""Which of some names a call uses: functions, classes and packages, whatever their text is called where they are used.

It looks at what is entered (``sys.setprofile``), so it is for a few calls; what code hides from it, it does not see.
"""

import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Self

CALLS = 12  # of a process that are looked at: as many as build and call a module in its usual ways


class Tracing:
    """Notes in ``used`` which of the names are entered, in each context of it, for CALLS contexts."""

    def __init__(self, names: Sequence[str]) -> None:
        self.used: set[str] = set()
        self._names = names
        self._left = CALLS
        self._codes: dict[CodeType, str] = {}
        self._built_in: dict[int, str] = {}  # by the identity of the function
        self._packages: dict[str, str] = {}
        self._known = 0  # modules that there were when the names were looked up

    def __enter__(self) -> Self:
        if self._left > 0:
            if len(sys.modules) != self._known:
                self._look_up()
            sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._left > 0:
            sys.setprofile(None)
        self._left -= 1

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        name, caller = "", frame.f_back
        if event == "call":
            name = self._codes.get(frame.f_code) or self._packages.get(_package(frame), "")
        elif event == "c_call":
            name, caller = self._built_in.get(id(argument), ""), frame
        if name and (caller is None or _package(caller) != name.partition(".")[0]):  # else its library uses it itself
            self.used.add(name)

    def _look_up(self) -> None:
        self._known = len(sys.modules)
        for name in self._names:
            if "." not in name:
                self._packages[name] = name
            for thing in _named(name):
                if isinstance(thing, FunctionType):
                    self._codes[thing.__code__] = name
                elif callable(thing):
                    self._built_in[id(thing)] = name


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _named(name: str) -> Iterator[Any]:
    """Yield what a dotted name stands for, of what is imported: a function, the methods of a class."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:cut]))
        if isinstance(found, ModuleType):
            for part in parts[cut:]:
                found = getattr(found, part, None)
            if isinstance(found, type):
                yield from (f for f in vars(found).values() if isinstance(f, FunctionType))
            elif isinstance(found, ModuleType):
                yield from (f for f in vars(found).values() if getattr(f, "__module__", "") == found.__name__)
            elif found is not None:
                yield found
            return
