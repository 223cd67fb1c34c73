"""The texts that a small component may have: how something is built and called, and how what comes back is read.

A family says what its constructors and calls may get, and how what comes back may be laid out; the rest is the same
for encodings of positions, rotations, biases and features of coordinates.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import (
    Construction,
    Meanings,
    as_module,
    is_pair,
    run,
    space_for,
)
from attnconf.conformance.inference.building.configurations import entry_default, entry_text, filled
from attnconf.conformance.inference.building.construction import and_for_each_length, constructions, without_lengths
from attnconf.conformance.inference.building.module_sizes import FLAGS, names_read
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.finding.candidates import own_text
from attnconf.conformance.inference.trials.binding import Attempts, Place
from attnconf.conformance.inference.trials.budgets import TEXTS
from attnconf.conformance.inference.trials.calling import own_method
from attnconf.conformance.inference.trials.filling import Input, arguments_of, fillings
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.proving import Trial
from attnconf.conformance.inference.trials.trial import View
from attnconf.conformance.inference.weights.function_forms import functional, takes_together
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.worker.bodies import names

Choice = Mapping[str, str]
ONE_LENGTH = {"sinusoidal"}  # whose tables may be exactly as long as the inputs; other tables are weights


@dataclass(frozen=True)
class Family:
    """What is particular to one component, or to it with fewer options."""

    component: str
    sizes: Meanings  # what parameters of constructors get
    inputs: Mapping[str, Input]  # what arguments of calls get
    readers: Callable[[Any, Request], list[str]]  # of what came back: expressions of ``result``
    requests: Callable[[Choice, str], list[Request]]  # the calls of a trial, all sizes distinct, or of one sample, …
    refusals: Callable[[frozenset[str]], list[str]] = lambda given: []
    limits: Callable[[frozenset[str]], list[str]] = lambda given: []
    states: Callable[[Any, Request], list[tuple[str, ...]]] | None = None  # of a module: entries of its parameters
    fixed: tuple[Choice, ...] = ({},)
    layouts: tuple[tuple[str, str], ...] = (("x", "{r}"),)  # of inputs, written {x}, and what is done to the output {r}
    ways: tuple[str, ...] = ("distinct",)  # of requests, tried in turn where none runs
    extra: Callable[[Place, "Family"], Iterator[Text]] | None = None  # texts of several definitions together
    view: View | None = None  # what of a reply has a meaning
    # not where a family before runs and has arguments for these; "": where it runs at all
    unless: frozenset[str] = frozenset()
    plausible: Callable[[Sequence[Trial[Text]]], Sequence[Trial[Text]]] = lambda readings: readings  # of one text
    after: Callable[[Place, Text], Text] = lambda place, text: text  # options, once it is bound
    explained: frozenset[str] = frozenset()  # mistakes that another order of the axes explains away, which are none
    turned: frozenset[str] = frozenset()  # those that are none only where x is turned, and nobody says so


def texts(place: Place, family: Family, way: str, failures: Attempts) -> Iterator[Text]:
    """Yield the texts that give something of a shape that can be read."""
    count = 0
    for fixed in family.fixed:
        request = family.requests(fixed, way)[0]
        for text in _written(place, family, fixed, request, failures):
            count += 1
            if count > TEXTS:
                return
            try:
                text, raw = _looked_at(place, family, text, request)
            except Failed as error:
                failures.say(str(error))
                continue
            for further, found in _followed(place, family, text, raw, request):
                readers = family.readers(found, request)
                if not readers:
                    failures.say(f"what came back is {kind_of(found)}")
                for reader in readers:
                    yield further.but(out=further.out.format(r=reader))


def _followed(place: Place, family: Family, text: Text, raw: Any, request: Request) -> Iterator[tuple[Text, Any]]:
    """Yield a text with what its call gives; where that is a function, or holds one, with what calling this gives."""
    calls = [(f"{text.call}{at}", thing) for at, thing in callables_in(raw)]
    if not calls:
        yield text, raw
    for call, thing in calls:
        for further in called(family, text.but(limits=()), thing, call, family.inputs):
            with contextlib.suppress(Failed):
                yield _looked_at(place, family, further, request)


def callables_in(raw: Any) -> list[tuple[str, Any]]:
    """Return the functions, objects and methods that can be called among what came back: where it is, and it."""
    items = list(enumerate(raw)) if isinstance(raw, tuple | list) else []
    found = [("", raw), *((f"[{i}]", x) for i, x in items)]
    return [(at, x) for at, x in found if callable(x) and not isinstance(x, type | torch.Tensor)][:2]


def _looked_at(place: Place, family: Family, text: Text, request: Request) -> tuple[Text, Any]:
    """Return what a text's call gives, and the text with the entries of a configuration that the call asks for.

    Raises Failed.
    """
    for _ in range(8):
        try:
            return text, attempt(partial(peek, place, text, request))
        except Failed as error:
            more = _with_entry(place, family, text, str(error))
            if more is None:
                raise
            text = more
    raise Failed("its configuration has too many entries")


def _with_entry(place: Place, family: Family, text: Text, error: str) -> Text | None:
    """Return the text with the entry that a namespace or a dict was found to lack."""
    missing = re.search(r"'types.SimpleNamespace' object has no attribute '(\w+)'|^KeyError: '(\w+)'", error)
    if missing is None:
        return None
    name = missing[1] or missing[2]
    value = entry_text(name, family.sizes) or entry_default(name, place.module)
    before, after = (
        ("SimpleNamespace(", f"SimpleNamespace({name}={value}, ") if missing[1] else ("{", f'{{"{name}": {value}, ')
    )
    lines = tuple(line.replace(before, after, 1) for line in text.made.before)
    made = replace(text.made, text=text.made.text.replace(before, after, 1), before=lines)
    if made == text.made:
        return None
    given = text.given | {m for m, texts in family.sizes.items() if value in texts}
    bare = text.but(made=made, given=given, limits=(), shown=text.shown.replace(before, after, 1))
    return complete(family, bare).but(limits=text.limits)


def _written(place: Place, family: Family, fixed: Choice, request: Request, failures: Attempts) -> Iterator[Text]:
    if family.extra is not None:
        yield from (text.but(declares=fixed) for text in family.extra(place, family))
    for base, thing, states in makings(place, family, request, failures):
        for state in states:
            kind = "module" if state and base.kind == "alone" else base.kind
            one = base.but(kind=kind, state=state, declares=fixed)
            yield from called(family, one, thing, "", family.inputs)


def called(family: Family, base: Text, thing: Any, callee: str, inputs: Mapping[str, Input]) -> Iterator[Text]:
    """Yield the texts that call a thing in every likely way; not the same one twice."""
    seen = set()
    for way in fillings(arguments_of(thing), inputs):
        for into, back in family.layouts:
            words = way.text.replace("{x}", into)
            if words not in seen:
                seen.add(words)
                text = base.but(callee=callee, arguments=words, out=back, given=base.given | way.roles)
                yield complete(family, text)


def complete(family: Family, text: Text) -> Text:
    """Return the text with what it refuses."""
    return text.but(refusals=tuple(family.refusals(text.given)), limits=(*text.limits, *family.limits(text.given)))


def makings(
    place: Place, family: Family, request: Request, failures: Attempts
) -> Iterator[tuple[Text, Any, list[tuple[str, ...]]]]:
    """Yield how a class, or a function of weights, is built, what is called, and what its parameters may be."""
    base = Text(family.component, Construction(place.name_in_text), "function", exact=False, shown=place.name_in_text)
    of_weights = family.states is not None and takes_together(place.thing)
    if not isinstance(place.thing, type) and not of_weights:
        if isinstance(place.thing, nn.Module):
            return
        before = _sizes_in_globals(place, family)
        made = replace(base.made, before=tuple(s for _, s in before))
        yield base.but(made=made, given=frozenset(m for m, _ in before)), place.thing, [()]
        return
    space = {**names(place.module), **space_for(request.config, place.module, weights=request.weights)}
    by_class = partial(constructions, place.name_in_text, place.thing, family.sizes, place.module, place.part)
    every = functional(place, family.sizes, [i.names for i in family.inputs.values()]) if of_weights else by_class()
    for made in and_for_each_length(every) if family.component in ONE_LENGTH else every:
        try:
            whole = attempt(partial(filled, made, family.sizes, place.module, space))
            thing = attempt(partial(run, whole, space))
            whole, thing = as_module(whole, thing) if is_pair(thing) else (whole, thing)
        except Failed as error:
            failures.say(f"{made.text}: {error}")
            continue
        for text, called in _called_as(whole.text, thing):
            states: list[tuple[str, ...]] = family.states(called, request) if family.states else [()]
            kind = "alone" if text.endswith(")") else "function"
            one = base.but(made=replace(whole, text=text), kind=kind, shown=_shown(text))
            yield one.but(given=_meant(whole, family.sizes)), called, states


def _called_as(text: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is called of an object, and its text: the object itself, or its method for an input.

    A module may have both, where the method works on what the module keeps or gives: it turns by its tables.
    """
    method = own_method(type(thing))
    module = isinstance(thing, nn.Module)
    if callable(thing) and not (module and type(thing).forward is nn.Module.forward and method):
        yield text, thing
    if method and not module and not callable(thing):
        yield f"{text}.{method}", getattr(thing, method)
    elif method and module and _works_on_itself(thing, method):
        yield f"settle(lambda: {text}, config).{method}", getattr(thing, method)


def _works_on_itself(module: nn.Module, method: str) -> bool:
    """Return whether the code of a method reads buffers of its module, or calls it."""
    function = getattr(type(module), method)
    kept = {*module._buffers, *(name for name, x in vars(module).items() if isinstance(x, torch.Tensor)), "forward"}
    return bool(kept & set(function.__code__.co_names)) or re.search(r"\bself\(", own_text(function)) is not None


def _shown(text: str) -> str:
    """Return the text of a construction for people."""
    built = without_lengths(text)
    return built if built == text else f"{built}, for inputs of one length only"


def _meant(made: Construction, table: Meanings) -> frozenset[str]:
    """Return what a construction is given, by the expressions that are in it."""
    words = " ".join((made.text, *made.before))
    return frozenset(m for m, texts in table.items() if any(re.search(rf"{re.escape(t)}(?!\w)", words) for t in texts))


def _sizes_in_globals(place: Place, family: Family) -> list[tuple[str, str]]:
    """Return the sizes that a function reads from its module, with statements that set them."""
    found: list[tuple[str, str]] = []
    for name in sorted(names_read(place.thing)):
        value = vars(place.module).get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        meaning = next((m for m in meanings(name) if m in family.sizes and m not in {*dict(found), *FLAGS}), None)
        if meaning:
            found.append((meaning, f"theirs.{name} = {family.sizes[meaning][0]}"))
    return found


def peek(place: Place, text: Text, request: Request) -> Any:
    """Return what a text's call gives, unread and unjudged."""
    space = names(place.module)
    exec(compile(text.but(out="result").draft().body, "<trial>", "exec"), space)
    forward = space[text.component](request.config, dict(request.weights))
    return forward(*(request.inputs[name] for name in COMPONENTS[text.component].inputs))


def tensors_in(raw: Any) -> list[tuple[str, Any]]:
    """Return the arrays among what came back, as (expression, array)."""
    items = [("result", raw)]
    if isinstance(raw, tuple | list) and not all(isinstance(x, int | float) for x in raw):
        items = [(f"result[{i}]", x) for i, x in enumerate(raw)]
    elif isinstance(raw, Mapping):
        items = [(f"result[{key!r}]", x) for key, x in raw.items()]
    found = []
    for text, x in items:
        if isinstance(x, torch.Tensor):
            found.append((text, x))
        elif type(x).__module__ == "numpy" or (isinstance(x, list | tuple) and x):
            try:
                found.append((f"torch.as_tensor({text})", torch.as_tensor(x)))
            except (TypeError, ValueError, RuntimeError):
                continue
    return found


def kind_of(x: Any) -> str:
    if isinstance(x, tuple | list):
        return f"a {type(x).__name__} of {', '.join(kind_of(item) for item in x[:4])}"
    shape = getattr(x, "shape", None)
    return f"of shape {tuple(shape)}" if shape is not None else type(x).__name__
