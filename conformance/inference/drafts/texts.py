"""The text of a component that maps one input: a norm, a network, an embedding, an encoding of positions, a bias, …"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.options.left_out import with_broken
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.proving import Proof
from attnconf.conformance.inference.trials.slots import Hypothesis, Slots


@dataclass(frozen=True)
class Text(Hypothesis):
    """All that is known, or supposed, of a class or function as such a component."""

    component: str
    made: Construction  # an expression of the module, the object or the function
    kind: str = "module"  # or function, object: of a class that is no module, alone: it gets no weights
    arguments: str = "x"
    callee: str = ""  # what is called, where it is not what is built: what a call of this gave, or another function
    state: tuple[str, ...] = ()  # entries of the dict of parameters, or of attributes; or a statement, call = …
    stripped: tuple[str, ...] = ()  # norms inside, which are left out
    refusals: tuple[str, ...] = ()  # statements before anything is built
    limits: tuple[str, ...] = ()  # statements before the call
    out: str = "result"
    after: tuple[str, ...] = ()  # statements on ``out``
    declares: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()  # statements behind what is built
    beside: tuple[Slots, ...] = ()  # of other components that it is, too
    padded: bool = False  # id 0 is its padding: ours are those after it
    first: str = ""  # what a module is called with once, if that makes its parameters
    exact: bool = True  # what it makes itself is made in the precision of the weights
    given: frozenset[str] = frozenset()  # what constructor and call get, by meaning
    shown: str = ""  # how it is built, for people

    def declaring(self, **choices: str) -> "Text":
        """Return the text with further conventions, whose names have hyphens."""
        named = {name.replace("_", "-"): choice for name, choice in choices.items()}
        return self.but(declares={**self.declares, **named})

    def conventions(self) -> Mapping[str, str]:
        return self.declares

    @property
    def call(self) -> str:
        own = self.made.text if self.kind == "function" else "call"
        return f"{self.callee or own}({self.arguments})"

    def slots(self) -> tuple[Slots, ...]:
        """Return the slots of the component, then of those that it is besides."""
        exact = ["exact(weights)"] if self.exact else []
        padded = ["config, weights = beside_padding(config, weights)  # id 0 is its padding"] if self.padded else []
        ids = ["ids = after_padding(ids)"] if self.padded else []
        own = Slots(
            self.component, COMPONENTS[self.component].forward, self.refusals, [*exact, *padded, *self.made.before],
            [*self._weighed(), *self.more], [*ids, *self.limits], self.call, read=self.out, after=self.after,
        )  # fmt: skip
        return (own, *self.beside)

    def _weighed(self) -> list[str]:
        built = f"settle(lambda: {self.made.text}, config, weights)"
        if self.kind in ("function", "alone"):
            return [f"call = {built}"] if self.kind == "alone" else []
        if self.kind == "object":
            return _with_entries(f"call = holding({self.made.text}, ", self.state, ")")
        if self.stripped:
            built = f"without({built}, {', '.join(map(repr, self.stripped))})"
        first = [f"module({self.first})  # makes its parameters"] if self.first else []
        if self.state and self.state[0].startswith("call = "):
            return [f"module = {built}", *first, *self.state]
        return [f"module = {built}", *first, *_with_entries("call = bind(module, fitted(module, ", self.state, "))")]


def _with_entries(before: str, entries: Sequence[str], behind: str) -> list[str]:
    """Return a statement with a dict in it: on one line, where it has one entry."""
    if len(entries) < 2:
        return [f"{before}{{{''.join(entries)}}}{behind}"]
    return [f"{before}{{", *(f"    {entry}," for entry in entries), f"}}{behind}"]


def bound(place: Place, proof: Proof[Text], text: Text, told: Sequence[str]) -> Bound:
    """Return the binding of what has been proved, in its last text."""
    one = Bound(place, text.draft(), None, proof.certified, tuple(told))
    return with_broken(one, proof.trial.certificate.requests[0])


def told(text: Text, thing: Any) -> list[str]:
    """Return the binding in three lines, for people."""
    shown = re.sub(r"\btheirs\.|\bconfig\.", "", text.made.text)
    plain = [re.sub(r'weights\["([\w.]+)"\]', r"\1", entry).replace("config.", "") for entry in text.state]
    weights = "; ".join(plain[:4]) + ("; …" if len(plain) > 4 else "")
    conventions = ", ".join(f"{name} {choice}" for name, choice in text.declares.items())
    arguments = re.sub(r'weights\["([\w.]+)"\]', r"\1", text.arguments).replace("config.", "")
    first = f"constructor  {shown}" if text.kind != "function" else f"function     {shown}"
    return [
        first,
        f"forward      ({arguments}) -> {text.out}",
        f"weights      {weights or 'in the call' if text.kind == 'function' else weights or 'none'}"
        + (f"; {conventions}" if conventions else ""),
    ]
