"""One implementation of public code, gone through once: what its call does, and what its constructor is given.

Nothing is run.
"""

import ast
import re
from dataclasses import dataclass

from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.flow import Flow
from attnconf.reports.studies.reading.sizes import Sizes
from attnconf.reports.studies.reading.statements import WRAPPERS, Event
from attnconf.reports.studies.reading.values import Closure, Definition, File, Value, last_name

FAMILIES = {  # of arguments whose role their names say
    "a mask": r".*mask.*|msk|(.*_)?pad(ding)?(_.*)?",
    "a cache": r".*(cache|past).*|kv",
    "positions": r".*(pos(ition)?s?|freqs?|rotary|rope|time_?steps?|offset)(_.*)?|cos(_.*)?|sin(_.*)?|(freqs|rope)_.*",
}
FLAG = r"(use|return|output|need|is|with|has|want|max|num|n)_.*|.*_(fn|func|len|type|size|dim)"
LINEAR = re.compile(r"\w*(Linear|Dense|Conv1d|Conv1D|Conv2d|Conv2D)\w*")
MATRICES = ("Parameter", "Sequential", "randn", "rand")  # what is a projection, too


@dataclass
class Reading:
    """One implementation, and what its code does."""

    file: File
    thing: Definition
    component: str

    def __post_init__(self) -> None:
        inside = "." if self.component == "attention" else WRAPPERS
        self.owner = self.thing if isinstance(self.thing, ast.ClassDef) else None
        self.flow = Flow(self.file, self.owner, inside)
        self.method = known.called(self.thing)
        if self.method is not None:
            given = [Value(frozenset([name])) for name in known.arguments(self.method)]
            self.flow.enter(Closure(self.method, {}), given, {})
        self.sizes = Sizes(self.file, self.thing, self.component)

    def events(self, kind: str) -> list[Event]:
        return [event for event in self.flow.found.events if event.kind == kind]

    def nodes(self) -> list[ast.AST]:
        """Return the implementation and the functions of its file that its call goes through."""
        return [self.thing, *self.flow.found.entered]

    def words(self) -> set[str]:
        """Return the names that the implementation has in it."""
        return {last_name(node) for node in ast.walk(self.thing)}

    def made(self, name: str) -> tuple[ast.Call | None, ast.ClassDef | None]:
        """Return the call that made what an attribute, or one of a list, holds, and whose attribute it is."""
        return self.flow.found.made.get(re.sub(r"\[\d*\]$", "", name), (None, None))

    def projections(self, value: Value) -> frozenset[str]:
        """Return which linear layers, or matrices, a value went through."""
        return frozenset(name for name in value.through if self.is_linear(name))

    def is_linear(self, name: str) -> bool:
        call = self.made(name)[0]
        inner = [last_name(one.func) for one in ast.walk(call) if isinstance(one, ast.Call)] if call else []
        return call is None or any(LINEAR.fullmatch(word) or word in MATRICES for word in inner)

    def attended(self) -> tuple[Value, Value, Value] | None:
        """Return queries, keys and values, or None where they were not found."""
        attends, weighs = self.events("attends"), self.events("weighs")
        if not (attends and weighs and len(attends[-1].values) == 2):
            return None
        query, key = attends[-1].values
        return query, key, weighs[-1].values[1]

    def source(self, value: Value) -> str | None:
        """Return the one argument that a value is made of, masks, caches and positions aside."""
        names = [name for name in value.origins if not family(name) and not re.fullmatch(FLAG, name.lower())]
        return names[0] if len(names) == 1 else None


def family(name: str) -> str:
    """Return which family an argument is of, or nothing."""
    plain = name.lower()
    found = next((one for one, words in FAMILIES.items() if re.fullmatch(words, plain)), "")
    return "" if re.fullmatch(FLAG, plain) else found


def names_in_calls(reading: Reading) -> dict[str, list[str]]:
    """Return what the arguments of a call are called, by role; none where the code does not show it."""
    names = known.arguments(reading.method) if reading.method else []
    found = {role: [name for name in names if family(name) == role] for role in FAMILIES}
    found = {role: told for role, told in found.items() if told}
    if reading.component != "attention":
        sizes = {name for told in reading.sizes.roles.values() for name in told}
        first = [name for name in names if not family(name) and name not in sizes]
        return found | {"the input": first[:1]}
    query, key, value = (reading.source(one) for one in reading.attended() or (Value(),) * 3)
    if query and query == key == value:
        return found | {"the input": [query]}
    if query and key and key == value:
        return found | {"the input": [query], "the memory": [key]}
    if query and key and value and len({query, key, value}) == 3:
        return found | {"queries": [query], "keys": [key], "values": [value]}
    return found | {"the input": []}
