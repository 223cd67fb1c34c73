"""What is asked of a configuration while something is built of it: its entries, and those of its sections."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from torch import nn

from attnconf.conformance.inference.words.asked import asked_of_kept
from attnconf.conformance.inference.words.vocabulary import meanings

Path = tuple[str, ...]  # an entry, by the sections that it stands in
# What is in a section of this name is called by both names: the width of a network is no width of the model.
OF_NETWORK = {"hidden", "ratio"}


class Recorder(dict[str, Any]):
    """Stands in for a configuration, and remembers what is asked of it: attributes, items or all that there are.

    ``deep``: an entry may be a section, of which something is asked in turn.
    """

    def __init__(
        self, value: Callable[[Path], Any], entries: Sequence[str] = (), deep: bool = False, at: Path = ()
    ) -> None:
        super().__init__()
        self.__dict__["asked"] = {}
        self.__dict__["as_mapping"] = False
        self.__dict__["value"] = value
        self.__dict__["entries"] = entries  # what is there when it is unpacked
        self.__dict__["deep"] = deep
        self.__dict__["at"] = at

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._answer(name)

    def __getitem__(self, name: str) -> Any:
        self.__dict__["as_mapping"] = True
        return self._answer(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.__dict__["as_mapping"] = True
        if default is not None and not meanings(name):  # the code's own value is better than a guess
            return default
        return self._answer(name)

    def pop(self, name: str, *default: Any) -> Any:
        return self.get(name, *default) if default else self[name]

    def __contains__(self, name: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        self.__dict__["as_mapping"] = True
        return iter(self.entries)

    def keys(self) -> Any:
        return list(self)

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def _answer(self, name: str) -> Any:
        if name not in self.asked:
            self.asked[name] = self._first_answer(name)
        return self.asked[name]

    def _first_answer(self, name: str) -> Any:
        path = (*self.at, name)
        value = self.value(path)
        if not self.deep or not isinstance(value, int | float):
            return value
        either = EitherFraction(value) if isinstance(value, float) else EitherNumber(value)
        either.section = Recorder(self.value, (), True, path)
        return either

    def leaves(self) -> Iterator[Path]:
        """Yield the entries that are no sections."""
        for name in self.asked:
            inner = self.section(name)
            yield from inner.leaves() if inner else [(*self.at, name)]

    def section(self, name: str) -> "Recorder | None":
        """Return what was asked of an entry; None where it was taken for a value."""
        found = getattr(self.asked[name], "section", None) if self.deep else None
        return found if isinstance(found, Recorder) and found.asked else None

    def written(self, texts: Mapping[Path, str]) -> str:
        """Return the text of a dict or a namespace with what was asked for."""
        entries = []
        for name in self.asked:
            inner = self.section(name)
            entries.append((name, inner.written(texts) if inner else texts[*self.at, name]))
        if self.as_mapping:
            return "{" + ", ".join(f'"{name}": {text}' for name, text in entries) + "}"
        return "SimpleNamespace(" + ", ".join(f"{name}={text}" for name, text in entries) + ")"


class Either:
    """A number, unless something is asked of it: then it is a section of a configuration."""

    section: Recorder

    def __getitem__(self, name: str) -> Any:
        return self.section[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "section":
            raise AttributeError(name)
        return getattr(self.section, name)


class EitherNumber(Either, int):
    """A whole number, or a section."""


class EitherFraction(Either, float):
    """A number that is not whole, or a section."""


def ask_as_calls_do(built: Any, recorder: Recorder) -> None:
    """Ask a recorder for what the modules that keep it ask of it when they are called."""
    for part in built.modules() if isinstance(built, nn.Module) else ():
        for name in [name for name, value in vars(part).items() if value is recorder]:
            later = asked_of_kept(type(part), name)
            for entry in later.entries:
                _ = recorder[entry] if later.by_item else getattr(recorder, entry)


def is_of_a_section(failure: Exception) -> bool:
    """Return whether something failed because a number was asked for an entry."""
    words = str(failure)
    numbers = ("'int' object", "'float' object", "'bool' object")
    of_item = isinstance(failure, TypeError) and "not subscriptable" in words
    return words.startswith(numbers) and (of_item or (isinstance(failure, AttributeError) and "attribute" in words))


def called(path: Path) -> str:
    """Return the name that says what an entry means: its own, or with that of its section's."""
    both = "_".join(path[-2:])
    return both if OF_NETWORK & set(meanings(both)) else path[-1]


def names_of(paths: Collection[Path]) -> list[str]:
    """Return the names of entries, each once."""
    return list(dict.fromkeys(map(called, paths)))
