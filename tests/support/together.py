"""What all workers of a test run need and is dear: computed once, by who asks first, and kept in a common folder."""

import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout


class Together:
    """Values by name that the workers of one test run share; a worker that dies leaves no lock behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Any] = {}
        folder.mkdir(exist_ok=True)

    def value(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` returns, here or in another worker, which is waited for."""
        if name not in self.known:
            with FileLock(self._path(name, ".lock")):
                self.known[name] = self._found(name, compute)
        return self.known[name]

    def values(self, names: Iterable[str], compute: Callable[[str], Any], others: Iterable[str] = ()) -> dict[str, Any]:
        """Return the value of each name: first those that nobody is at, then those that others are computing.

        Rather than wait for these, some of the ``others`` that nobody is at are computed, the last one first.
        """
        names = list(names)
        for name in names:
            if not self._is_there(name):
                self._unless_taken(name, compute)
        for name in reversed(list(others)):
            if all(map(self._is_there, names)):
                break
            if not self._is_there(name):
                self._unless_taken(name, compute)
        return {name: self.value(name, lambda name=name: compute(name)) for name in names}

    def _is_there(self, name: str) -> bool:
        return name in self.known or self._path(name, ".pickle").is_file()

    def _unless_taken(self, name: str, compute: Callable[[str], Any]) -> None:
        try:
            with FileLock(self._path(name, ".lock"), timeout=0):
                self.known[name] = self._found(name, lambda: compute(name))
        except Timeout:
            return

    def _found(self, name: str, compute: Callable[[], Any]) -> Any:
        path = self._path(name, ".pickle")
        if path.is_file():
            return pickle.loads(path.read_bytes())
        value = compute()
        path.write_bytes(pickle.dumps(value))
        return value

    def _path(self, name: str, suffix: str) -> Path:
        return self.folder / (name.replace("/", "--") + suffix)
