"""Find a binding of a chapter whose components are small: write it in every likely way, run it, and compare.

A chapter says what its constructors and calls may get, and how what comes back may be laid out; the rest is the same
for encodings of positions, rotations, biases and features of coordinates.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import FORWARD
from attnconf.conformance.conventions import others_than
from attnconf.conformance.door import Reply, Request
from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.binding import Bound, Place, Refusal
from attnconf.conformance.inference.construction import (
    Construction,
    Meanings,
    constructions,
    entry_default,
    entry_text,
    filled,
    names_read,
    run,
    space_for,
)
from attnconf.conformance.inference.filling import Input, arguments_of, fillings
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, Draft, gap, names, reply
from attnconf.conformance.mutation import Mutant, all_mutants, reaches

Choice = Mapping[str, str]
AT_MOST = 160  # ways to write one binding
LOOKED_AT = 2  # of those that run and differ, how many are compared with mistakes


@dataclass(frozen=True)
class Text:
    """An adapter's function in parts."""

    component: str
    making: tuple[str, ...]  # statements that build
    call: str
    reader: str = "result"
    refusals: tuple[str, ...] = ()  # statements before anything is built
    limits: tuple[str, ...] = ()  # statements before the call
    given: frozenset[str] = frozenset()  # what constructor and call get, by meaning
    fixed: Choice = field(default_factory=dict)  # the conventions that this text stands for
    shown: str = ""

    def body(self) -> str:
        build = [f"    {line}" for line in (*self.refusals, *self.making)]
        inner = [f"        {line}" for line in (*self.limits, f"result = {self.call}")]
        head = f"def {self.component}(config, weights):"
        forward = f"    def forward({FORWARD[self.component]}):"
        return "\n".join(
            [head, *build, "", forward, *inner, f"        return {self.reader}", "", "    return forward", ""]
        )

    def draft(self, declares: Choice) -> Draft:
        return Draft(self.component, self.body(), {**declares, **self.fixed})


@dataclass(frozen=True)
class Chapter:
    """What is particular to one component."""

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
    extra: Callable[[Place, "Chapter"], Iterator[Text]] | None = None  # texts of several definitions together
    view: Callable[[Reply, Request], Reply] = lambda reply, request: reply  # what of a reply has a meaning
    unless: frozenset[str] = (
        frozenset()
    )  # not where a chapter before runs and has arguments for these; "": where it runs
    plausible: Callable[[Sequence[Any], list[dict[str, str]]], list[dict[str, str]]] = lambda given, found: found
    after: Callable[[Place, Text, Choice], Text] = lambda place, text, declares: text  # options, once it is bound


class Trials(Certificate):
    """Calls on which what has a meaning in the replies is compared."""

    def __init__(self, chapter: Chapter, requests: Sequence[Request]):
        super().__init__(chapter.component, requests)
        self.chapter, self.view = chapter, chapter.view

    def wanted(self, declares: Choice, mutant: str = "") -> list[Reply | Failure]:
        key = (mutant, frozenset(declares.items()))
        if key not in self._wanted:
            found = super().wanted(declares, mutant)
            self._wanted[key] = self._seen(found)
        return self._wanted[key]

    def first_gap(self, given: Sequence[Reply | Failure], declares: Choice, mutant: str) -> float:
        """Return how far the first reply is from a mutant's: enough to exclude most."""
        key = (f"{mutant} first", frozenset(declares.items()))
        if key not in self._wanted:
            one = Trials(self.chapter, self.requests[:1])
            self._wanted[key] = one.wanted(declares, mutant)
        return gap(given[0], self._wanted[key][0])

    def replies(self, draft: Any) -> list[Reply | Failure]:
        return self._seen(super().replies(draft))

    def _seen(self, replies: Sequence[Reply | Failure]) -> list[Reply | Failure]:
        pairs = zip(replies, self.requests, strict=False)
        return [r if isinstance(r, Failure) else self.view(r, request) for r, request in pairs]


@dataclass(frozen=True)
class Ran:
    """A text that gave something, and what it gave."""

    text: Text
    trials: Trials
    given: list[Reply | Failure]


def seek(place: Place, *chapters: Chapter) -> Bound | Refusal:
    """Return the binding that is the textbook in some conventions, else a known mistake, else the first that runs.

    Several chapters are one component with fewer and fewer options: the textbook with few is likelier than a mistake.
    """
    said: list[str] = []
    ran: list[tuple[Chapter, list[Ran]]] = []
    for chapter in chapters:
        if any("" in chapter.unless or chapter.unless & each.text.given for _, runs in ran for each in runs):
            continue
        for way in chapter.ways:
            outcome = _runs(place, chapter, way, said)
            if isinstance(outcome, Bound):
                return outcome
            if outcome:
                ran.append((chapter, outcome))
                break
    for chapter, runs in ran:
        for each in _different(runs)[:LOOKED_AT]:
            found = mistake(each, chapter)
            if found is not None:
                return _bound(place, chapter, each.text, found[0], found[1].id)
    for chapter, runs in ran[:1]:
        return _bound(place, chapter, runs[0].text, nearest(runs[0], chapter), None)
    return Refusal("; ".join(said[:3]) or f"it cannot be called as {place.component}")


def _runs(place: Place, chapter: Chapter, way: str, said: list[str]) -> Bound | list[Ran]:
    """Return the first binding that is the textbook in some conventions, else what ran at all."""
    ran: list[Ran] = []
    for text in _texts(place, chapter, way, said):
        trials = _trials(chapter, text.fixed, way)
        given = trials.replies(text.draft({}).implementation(place.module))
        if given and isinstance(given[-1], Failure):
            _say(said, given[-1].message)
            continue
        for choice in choices(chapter.component, text.fixed):
            if trials.distance(given, {**choice, **text.fixed}) <= ROUNDING:
                return _bound(place, chapter, text, choice, "reference")
        ran.append(Ran(text, trials, given))
    return ran


def _different(ran: list[Ran]) -> list[Ran]:
    """Return those that give other replies than the ones before them."""
    found: list[Ran] = []
    for each in ran:
        if not any(all(gap(a, b) <= ROUNDING for a, b in zip(each.given, o.given, strict=True)) for o in found):
            found.append(each)
    return found


def choices(component: str, fixed: Choice) -> list[dict[str, str]]:
    """Return the sets of conventions that are not fixed, the most common first."""
    free = [{k: v for k, v in other.items() if k not in fixed} for other in others_than(component, {})]
    return [dict(pairs) for pairs in dict.fromkeys(tuple(d.items()) for d in [{}, *free])]


def mistake(ran: Ran, chapter: Chapter) -> tuple[dict[str, str], Mutant] | None:
    """Return the conventions, and the mistake of ours that gives all replies in them and that shows there."""
    for choice in chapter.plausible(ran.given, choices(chapter.component, ran.text.fixed)):
        declares = {**choice, **ran.text.fixed}
        for mutant in _mutants(chapter.component):
            if ran.trials.first_gap(ran.given, declares, mutant.id) > ROUNDING:
                continue
            if ran.trials.distance(ran.given, declares, mutant.id) <= ROUNDING:
                wanted = zip(ran.trials.wanted(declares, mutant.id), ran.trials.wanted(declares), strict=True)
                if any(gap(a, b) > ROUNDING for a, b in wanted):
                    return choice, mutant
    return None


@cache
def _mutants(component: str) -> list[Mutant]:
    return [m for m in all_mutants().values() if reaches(component, m)]


def nearest(ran: Ran, chapter: Chapter) -> dict[str, str]:
    """Return the conventions in which the textbook is least far away."""
    found = choices(chapter.component, ran.text.fixed)
    return min(found, key=lambda c: ran.trials.distance(ran.given, {**c, **ran.text.fixed}))


_made: dict[tuple[str, frozenset[tuple[str, str]], str], Trials] = {}


def _trials(chapter: Chapter, fixed: Choice, way: str) -> Trials:
    """Return the calls of a trial; what the textbook gives in them is kept for the next file."""
    key = (chapter.component, frozenset(fixed.items()), way)
    if key not in _made:
        _made[key] = Trials(chapter, chapter.requests(fixed, way))
    return _made[key]


def _bound(place: Place, chapter: Chapter, text: Text, choice: Choice, certified: str | None) -> Bound:
    text = chapter.after(place, text, {**choice, **text.fixed})
    declares = {**choice, **text.fixed}
    conventions = ", ".join(f"{k} {v}" for k, v in declares.items()) or "those of the spec"
    plain = re.sub(r"\btheirs\.|\bconfig\.", "", text.shown)
    kind = "constructor" if isinstance(place.thing, type) else "function   "
    told = (f"{kind}  {plain}", f"forward      {text.call} -> {text.reader}", f"conventions  {conventions}")
    return Bound(place, text.draft(choice), None, certified, told)


# -- texts


def _texts(place: Place, chapter: Chapter, way: str, said: list[str]) -> Iterator[Text]:
    """Yield the texts that give something of a shape that can be read."""
    count = 0
    for fixed in chapter.fixed:
        request = chapter.requests(fixed, way)[0]
        for text in _written(place, chapter, fixed, request, said):
            count += 1
            if count > AT_MOST:
                return
            try:
                text, raw = _looked_at(place, chapter, text, request)
            except Failed as error:
                _say(said, str(error))
                continue
            readers = chapter.readers(raw, request)
            if not readers:
                _say(said, f"what came back is {kind_of(raw)}")
            for reader in readers:
                yield replace(text, reader=text.reader.format(r=reader))


def _looked_at(place: Place, chapter: Chapter, text: Text, request: Request) -> tuple[Text, Any]:
    """Return what a text's call gives, with the entries of a configuration that only the call asks for. Raises Failed."""
    for _ in range(8):
        try:
            return text, attempt(lambda text=text: peek(place, text, request))
        except Failed as error:
            more = _with_entry(place, chapter, text, str(error))
            if more is None:
                raise
            text = more
    raise Failed("its configuration has too many entries")


def _with_entry(place: Place, chapter: Chapter, text: Text, error: str) -> Text | None:
    """Return the text with the entry that a namespace or a dict was found to lack."""
    missing = re.search(r"'types.SimpleNamespace' object has no attribute '(\w+)'|^KeyError: '(\w+)'", error)
    if missing is None:
        return None
    name = missing[1] or missing[2]
    value = entry_text(name, chapter.sizes) or entry_default(name, place.module)
    before, after = (
        ("SimpleNamespace(", f"SimpleNamespace({name}={value}, ") if missing[1] else ("{", f'{{"{name}": {value}, ')
    )
    making = tuple(line.replace(before, after, 1) for line in text.making)
    if making == text.making:
        return None
    given = text.given | {m for m, texts in chapter.sizes.items() if value in texts}
    bare = replace(text, making=making, given=given, limits=(), shown=text.shown.replace(before, after, 1))
    return replace(complete(chapter, bare), limits=text.limits)


def _written(place: Place, chapter: Chapter, fixed: Choice, request: Request, said: list[str]) -> Iterator[Text]:
    if chapter.extra is not None:
        yield from (replace(text, fixed=fixed) for text in chapter.extra(place, chapter))
    for making, thing, given, shown, states in makings(place, chapter, request, said):
        for state in states:
            build, call = made_text(making, state)
            base = Text(chapter.component, build, "", given=given, fixed=fixed, shown=shown)
            yield from called(chapter, base, thing, call, chapter.inputs)


def called(chapter: Chapter, base: Text, thing: Any, call: str, inputs: Mapping[str, Input]) -> Iterator[Text]:
    """Yield the texts that call a thing in every likely way; not the same one twice."""
    seen = set()
    for way in fillings(arguments_of(thing), inputs):
        for into, back in chapter.layouts:
            words = way.text.replace("{x}", into)
            if words not in seen:
                seen.add(words)
                text = replace(base, call=f"{call}({words})", reader=back, given=base.given | way.roles)
                yield complete(chapter, text)


def complete(chapter: Chapter, text: Text) -> Text:
    """Return the text with what it refuses."""
    return replace(
        text, refusals=tuple(chapter.refusals(text.given)), limits=(*text.limits, *chapter.limits(text.given))
    )


Making = tuple[Construction, Any, frozenset[str], str, list[tuple[str, ...]]]


def makings(place: Place, chapter: Chapter, request: Request, said: list[str]) -> Iterator[Making]:
    """Yield how a class is built, what is called, what the constructor was given, and what its parameters may be."""
    if not isinstance(place.thing, type):
        if isinstance(place.thing, nn.Module):
            return
        before = _sizes_in_globals(place, chapter)
        given = frozenset(m for m, _ in before)
        made = Construction(place.name_in_text, tuple(s for _, s in before))
        yield made, place.thing, given, place.name_in_text, [()]
        return
    space = {**names(place.module), **space_for(request.config, place.module, weights=request.weights)}
    for made in constructions(place.name_in_text, place.thing, chapter.sizes, place.module, place.part):
        try:
            whole = attempt(lambda made=made: filled(made, chapter.sizes, place.module, space))
            thing = attempt(lambda whole=whole: run(whole, space))
        except Failed as error:
            _say(said, f"{made.text}: {error}")
            continue
        states = chapter.states(thing, request) if chapter.states else [()]
        yield whole, thing, _meant(whole, chapter.sizes), whole.text, states


def _meant(made: Construction, table: Meanings) -> frozenset[str]:
    """Return what a construction is given, by the expressions that are in it."""
    words = " ".join((made.text, *made.before))
    return frozenset(m for m, texts in table.items() if any(re.search(rf"{re.escape(t)}(?!\w)", words) for t in texts))


def _sizes_in_globals(place: Place, chapter: Chapter) -> list[tuple[str, str]]:
    """Return the sizes that a function reads from its module, with statements that set them."""
    from attnconf.conformance.inference.vocabulary import meanings

    found = []
    for name in sorted(names_read(place.thing)):
        value = vars(place.module).get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        meaning = next((m for m in meanings(name) if m in chapter.sizes and m not in dict(found)), None)
        if meaning:
            found.append((meaning, f"theirs.{name} = {chapter.sizes[meaning][0]}"))
    return found


def made_text(made: Construction, state: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the statements that build, and what is called."""
    if not made.text.endswith(")"):
        return made.before, made.text
    build = f"settle(lambda: {made.text}, config, weights)"
    if not state:
        return (*made.before, f"call = {build}"), "call"
    if state[0].startswith("call = "):
        return (*made.before, f"module = {build}", *state), "call"
    entries = ", ".join(state)
    return (*made.before, f"module = {build}", f"call = bind(module, fitted(module, {{{entries}}}))"), "call"


def peek(place: Place, text: Text, request: Request) -> Any:
    """Return what a text's call gives, unread and unjudged."""
    space = names(place.module)
    exec(compile(replace(text, reader="result").body(), "<trial>", "exec"), space)
    forward = space[text.component](request.config, dict(request.weights))
    from attnconf.adapters.contract import positional

    return forward(*(request.inputs[name] for name in positional(text.component)))


def attempted(place: Place, text: Text, declares: Choice, requests: Iterable[Request]) -> float:
    """Return how far a text is from the textbook on some requests; infinite where one fails."""
    trials = Certificate(text.component, list(requests))
    return trials.distance(trials.replies(text.draft(declares).implementation(place.module)), declares)


def raises(place: Place, text: Text, request: Request) -> bool:
    """Return whether a text raises an exception of the user's file's."""
    return isinstance(reply(text.draft({}).implementation(place.module), request), Failure)


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


def _say(said: list[str], what: str) -> None:
    if what not in said:
        said.append(what)


__all__ = ["FAILED", "Chapter", "Input", "Text", "attempted", "seek"]
