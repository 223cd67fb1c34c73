"""Components that map one tensor to another: their binding as text, and the search for it.

Norms, feed-forward networks and embeddings are of this kind. What is tried is a ``PlainText``; how it is asked, and
which conventions it may stand for, the component says.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from torch import Tensor, nn

from attnconf.conformance.inference.binding import Bound, Place, Refusal
from attnconf.conformance.inference.building import Construction, Meanings, run, space_for
from attnconf.conformance.inference.configurations import filled
from attnconf.conformance.inference.left_out import with_broken
from attnconf.conformance.inference.probing import attempt
from attnconf.conformance.inference.proving import Proof, Prover
from attnconf.conformance.inference.slots import Hypothesis, Slots
from attnconf.conformance.inference.vocabulary import fitting

AT_MOST = 160  # ways to call one function


@dataclass(frozen=True)
class PlainText(Hypothesis):
    """All that is known, or supposed, of a class or function as a component of one input."""

    component: str
    made: Construction  # an expression of the module, or of the function
    kind: str = "module"  # module, function, or object: of a class that is no module
    arguments: str = "x"
    state: tuple[str, ...] = ()  # entries of the dict of parameters, or of attributes
    stripped: tuple[str, ...] = ()  # norms inside, which are left out
    refusals: tuple[str, ...] = ()  # statements before anything is built
    out: str = "result"
    after: tuple[str, ...] = ()  # statements on ``out``
    declares: Mapping[str, str] = field(default_factory=dict)
    input: str = "x"
    more: tuple[str, ...] = ()  # statements behind what is built
    beside: tuple[Slots, ...] = ()  # of other components that it is, too
    padded: bool = False  # id 0 is its padding: ours are those after it
    first: str = ""  # what a module is called with once, if that makes its parameters

    def declaring(self, **choices: str) -> "PlainText":
        """Return the text with further conventions, whose names have hyphens."""
        named = {name.replace("_", "-"): choice for name, choice in choices.items()}
        return self.but(declares={**self.declares, **named})

    def conventions(self) -> Mapping[str, str]:
        return self.declares

    def slots(self) -> tuple[Slots, ...]:
        """Return the slots of the component, then of those that it is besides."""
        padded = ["config, weights = beside_padding(config, weights)  # id 0 is its padding"] if self.padded else []
        call = self.made.text if self.kind == "function" else "call"
        own = Slots(
            self.component, self.input, self.refusals, ["exact(weights)", *padded, *self.made.before],
            [*self._built(), *self.more], ["ids = after_padding(ids)"] if self.padded else [],
            f"{call}({self.arguments})", read=self.out, after=self.after,
        )  # fmt: skip
        return (own, *self.beside)

    def _built(self) -> list[str]:
        entries = ["{", *(f"    {entry}," for entry in self.state), "}"]
        if self.kind == "function":
            return []
        if self.kind == "object":
            return [f"call = holding({self.made.text}, {entries[0]}", *entries[1:-1], "})"]
        module = f"settle(lambda: {self.made.text}, config, weights)"
        if self.stripped:
            module = f"without({module}, {', '.join(map(repr, self.stripped))})"
        first = [f"module({self.first})  # makes its parameters"] if self.first else []
        return [f"module = {module}", *first, "call = bind(module, fitted(module, {", *entries[1:-1], "}))"]


# -- the binding


def bound(place: Place, proof: Proof[PlainText], text: PlainText, told: Sequence[str]) -> Bound:
    """Return the binding of what has been proved, in its last text."""
    one = Bound(place, text.draft(), None, proof.certified, tuple(told))
    return with_broken(one, proof.trial.certificate.requests[0])


def refusal(prover: Prover[PlainText]) -> Refusal:
    return prover.refusal(f"it can be neither built nor called as {prover.place.component}")


def told(text: PlainText, thing: Any) -> list[str]:
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


# -- calls of functions


@dataclass(frozen=True)
class Argument:
    """What a parameter of a function may get, the likeliest first; "" leaves it at its default."""

    name: str
    choices: tuple[str, ...]
    positional: bool


def arguments_of(thing: Any, choices: Callable[[inspect.Parameter, int], Sequence[str]]) -> Iterator[str]:
    """Yield the arguments of a call as text, those first whose parameters get what is likeliest for them."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    given = [Argument(p.name, tuple(choices(p, i)), p.default is p.empty and p.kind is not p.KEYWORD_ONLY)
             for i, p in enumerate(parameters)]  # fmt: skip
    if not all(a.choices for a in given):
        return
    ranks = islice(product(*(range(len(a.choices)) for a in given)), 20_000)
    for picked in islice(sorted(ranks, key=lambda r: (sum(r), r)), AT_MOST):
        texts = [a.choices[i] for a, i in zip(given, picked, strict=True)]
        named = [t for t in texts if t]
        if len(set(named)) < len(named):  # one thing in two places
            continue
        yield ", ".join(t if a.positional else f"{a.name}={t}" for a, t in zip(given, texts, strict=True) if t)


def matches(name: str, patterns: Mapping[str, str]) -> list[str]:
    """Return the roles whose pattern a name fits."""
    return fitting(name, patterns)


# -- what a module or an object consists of


def built(place: Place, made: Construction, table: Meanings, config: Any, weights: Any) -> tuple[Construction, Any]:
    """Return a construction with its configuration written out, and what it builds. Raises Failed."""
    space = space_for(config, place.module, weights=weights)
    whole = attempt(lambda: filled(made, table, place.module, space))
    return whole, attempt(lambda: run(whole, space))


def tensors_of(thing: Any) -> dict[str, Tensor]:
    """Return the parameters of a module, or the tensors that another object holds."""
    if isinstance(thing, nn.Module):
        return dict(thing.named_parameters())
    held = {name: x for name, x in vars(thing).items() if isinstance(x, Tensor)} if hasattr(thing, "__dict__") else {}
    return {name: x for name, x in held.items() if x.is_floating_point()}
