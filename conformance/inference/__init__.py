"""Judge a file that knows nothing of us: find its components, and how each is built, called and given weights.

What may be a component is a hypothesis, from which the slots of a binding follow (trials.slots); who binds a component
(binders) proposes hypotheses, and one prover runs and compares them (trials.proving), within limits (trials.budgets).
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.diagnosis.locate import locate
from attnconf.conformance.engine.request import INFERRED, Binding, Implementation, Unjudgeable, of_component
from attnconf.conformance.inference.binders.mask_making import together
from attnconf.conformance.inference.building.construction import part_of
from attnconf.conformance.inference.building.lending import lent
from attnconf.conformance.inference.finding.candidates import (
    Candidate,
    builders,
    candidates,
    described,
    may_be,
    says_nothing,
    unnamed,
)
from attnconf.conformance.inference.finding.mask_files import NO_KNOWN_MASK, NO_SUCH_MASK, makers
from attnconf.conformance.inference.finding.used_by_others import (
    far_fetched,
    helps,
    is_handed,
    is_helper_of_refused,
    is_part,
    made_of_parts,
    with_neighbours,
    with_parts,
    with_users,
    without_helpers,
)
from attnconf.conformance.inference.options.turned_flags import with_flags_turned
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.budgets import CALLS, GUESSED
from attnconf.conformance.inference.trials.probing import Failed, search
from attnconf.conformance.inference.trials.waiting import patiently
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.loading.required_conventions import of_masks
from attnconf.conformance.source import source_text
from attnconf.conformance.source.exception_words import fault_of_ours
from attnconf.conformance.source.reader import Source, of_module

PLACED = r"(?<![a-z])(alibi|rope|rotary|t5|relative)(?![a-z])"  # names of attention with positions
SHOWN, LISTED = 4, 12  # of what cannot be judged, how many are told; of what looks like nothing
Binder = Callable[[Place], Bound | Refusal]


def infer(
    source: Source, label: str, chosen: str | None, component: str | None, prescribed: Mapping[str, Any] | None = None
) -> list[Implementation | Unjudgeable]:
    """Return an implementation for what ``source`` holds, or why there is none; ``label`` is what the user typed.

    ``chosen`` is the class or function that was asked for, ``component`` the chapter to judge it by, ``prescribed``
    the conventions that a course, or its file, wants: under a component's name, of that one.
    """
    where = source.called
    try:
        bound, refused = bindings(source, chosen, component, prescribed)
    except Exception as fault:
        return [Unjudgeable(label, where, fault_of_ours(fault))]
    named, several = component is not None, len(bound) + len(refused) > 1
    labels = [_labelled(label, chosen, b.place.name) if several else label for b in bound]
    implementations = [_implementation(b, name, where, named) for b, name in zip(bound, labels, strict=True)]
    if implementations:
        strong = [(c, reason) for c, reason in refused if not c.weak]
        return [*implementations[:-1], _with_refused(implementations[-1], told_refusals(source, strong))]
    if refused:
        return [_unjudgeable(label, where, told_refusals(source, refused))]
    return [Unjudgeable(label, where, nothing_in(source))]


def _labelled(label: str, chosen: str | None, name: str) -> str:
    """Return what a user typed, with the name of one of the things in it behind it."""
    if chosen is None:
        return f"{label}:{name}"
    return f"{label}.{name.removeprefix(f'{chosen}.')}" if name.startswith(f"{chosen}.") else label


def _with_refused(last: Implementation, refusals: list[str]) -> Implementation:
    """Return the last implementation of a file, with a word on what looks like a component and cannot be judged."""
    words = tuple(f"not judged   {words[:200]}" for words in refusals[:SHOWN])
    return replace(last, notes=(*last.notes, *words))


def _unjudgeable(label: str, where: str, refusals: list[str]) -> Unjudgeable:
    """Return why nothing of a file can be judged: what stands against the first that may be a component, and others."""
    more = len(refusals) - 1
    words = refusals[0] + (f"; nor can {more} other{'s' if more > 1 else ''}" if more else "")
    tried = tuple(f"not judged   {words}" for words in refusals[:SHOWN]) if more else ()
    return Unjudgeable(label, where, words, tried=tried)


def told_refusals(source: Source, refused: Sequence[tuple[Candidate, str]]) -> list[str]:
    """Return a line for each thing that cannot be bound: its name, its line, and the reason."""
    text = source_text.text_of(source.called)
    places = text.definitions() if text else {}
    return [f"{c.name}{f' ({places[c.name]})' if c.name in places else ''}: {reason}" for c, reason in refused]


def bindings(
    source: Source, chosen: str | None, component: str | None, prescribed: Mapping[str, Any] | None = None
) -> tuple[list[Bound], list[tuple[Candidate, str]]]:
    """Return the bindings of what is to be judged, and what looked like a component but cannot be bound, and why."""
    found = candidates(source.module, chosen, component)
    if component is None and (making := makers(source.module, chosen, found)):
        return _of_masks(making, source, prescribed or {})
    bound: list[Bound] = []
    refused: list[tuple[Candidate, str]] = []
    for candidate in sorted(found, key=lambda c: sum(c.name in o.uses for o in found if o is not c)):
        if any(helps(candidate, b, found) for b in bound):
            continue
        outcome = bind(candidate, source, prescribed or {})
        if component is None and says_nothing(candidate.name) and not _is_certain(outcome) and not _is_layer(outcome):
            anything = replace(candidate, components=may_be(candidate.thing), guessed=True)
            other = bind(anything, source, prescribed or {})
            outcome = other if _certified(other) else outcome
        if isinstance(outcome, Bound):
            bound.append(outcome)
        else:
            refused.append((candidate, outcome.reason))
    if chosen is None and component is None:
        whole = [c for c, _ in refused if not c.weak] + [c for c in found if any(made_of_parts(c, b) for b in bound)]
        for candidate in builders(source.module, whole, found):
            outcome = bind(candidate, source, prescribed or {})
            if isinstance(outcome, Bound):
                bound.append(outcome)
                found.append(candidate)
                refused = [(c, reason) for c, reason in refused if c.thing not in candidate.thing.__mro__]
    bound = [b for b in bound if not is_helper_of_refused(b, refused)]
    if not bound and component is None:  # names say nothing: only what is certified is believed
        for candidate in unnamed(source.module, chosen, [c.name for c in found]):
            outcome = bind(candidate, source, prescribed or {})
            if not _certified(outcome) and (named := described(candidate.thing)):
                candidate = replace(candidate, components=named[:1], guessed=False)
                outcome = bind(candidate, source, prescribed or {})
            if isinstance(outcome, Bound) and (outcome.certified or not candidate.guessed):
                bound.append(outcome)
                found.append(candidate)
    if not bound:
        told = [c for c, _ in refused if component is not None or not says_nothing(c.name)]
        owns = (_with_own(candidate, source, prescribed or {}) for candidate in told)
        bound = list(islice((own for own in owns if own is not None), 1))
    by_name = {c.name: c for c in found}
    bound = [b for b in bound if not any(is_part(b, o, by_name[o.place.name].uses) for o in bound if o is not b)]
    bound = without_helpers(sorted(bound, key=lambda b: list(by_name).index(b.place.name)), by_name)
    used = {name for b in bound for c in found if c.name == b.place.name for name in c.uses}
    used |= {name for c in found for name in c.uses if c.name != name}
    left = [(c, reason) for c, reason in refused if c.name not in used and not is_handed(c, bound)]
    if chosen is None:
        bound = with_parts(with_neighbours(with_users(bound, refused), left), found)
    return bound, left


def _of_masks(
    making: Sequence[Candidate], source: Source, prescribed: Mapping[str, Any]
) -> tuple[list[Bound], list[tuple[Candidate, str]]]:
    """Return the bindings of functions that make masks, each by itself, and what cannot be bound, and why."""
    bound: list[Bound] = []
    refused: list[tuple[Candidate, str]] = []
    for candidate in making:
        outcome: Bound | Refusal = Refusal(NO_SUCH_MASK)
        for component in reversed(candidate.components):  # a mistake is one in what it most likely is
            outcome = bind(replace(candidate, components=(component,)), source, prescribed)
            if _certified(outcome) == "reference":
                break
        if isinstance(outcome, Bound) and (outcome.certified == "reference" or not candidate.guessed):
            bound.append(outcome)
        else:
            refused.append((candidate, outcome.reason if isinstance(outcome, Refusal) else NO_KNOWN_MASK))
    return together(bound), refused


def bind(candidate: Candidate, source: Source, prescribed: Mapping[str, Any]) -> Bound | Refusal:
    """Return the first binding that is certified by the textbook, else by a known mistake, else the likeliest."""
    outcomes: list[Bound | Refusal] = []
    for module in lent(candidate.thing, source.module):
        thing = candidate.thing if module is source.module else vars(module).get(candidate.name, candidate.thing)
        with search.limited(GUESSED if candidate.guessed else CALLS), patiently(f"{candidate.name} of {source.called}"):
            again = partial(_bind, replace(candidate, thing=thing), module, prescribed)
            outcomes.append(again())
        outcomes[-1] = with_flags_turned(thing, outcomes[-1], again)
        if _certified(outcomes[-1]):
            return outcomes[-1]
    return min(outcomes, key=lambda outcome: isinstance(outcome, Refusal))


def _bind(candidate: Candidate, module: ModuleType, prescribed: Mapping[str, Any]) -> Bound | Refusal:
    outcomes: list[Bound | Refusal] = []
    unlike: list[Any] = []  # what ran, and may be a known mistake: only if it is no other textbook
    for component in candidate.components:
        binder: Any = import_module(f"attnconf.conformance.inference.binders.{appearances()[component].binder}")
        place = Place(
            candidate.name, candidate.thing, module, part_of(module), component, of_component(prescribed, component)
        )
        outcome: Any = attempted(getattr(binder, "begin", binder.bind), place)
        if not isinstance(outcome, Bound | Refusal):
            unlike.append(outcome)
            continue
        passed_over = isinstance(outcome, Bound) and "handed(" in outcome.draft.body and any(u.whole for u in unlike)
        if isinstance(outcome, Bound) and outcome.certified == "reference" and not passed_over:
            return outcome if len(candidate.components) == 1 else _without_positions(outcome)
        if isinstance(outcome, Bound) and outcome.certified is None and far_fetched(candidate, component):
            outcome = Refusal(f"it can be called as {component}, but is neither that nor a known mistake in it")
        outcomes.append(outcome)
    for one in unlike:  # an embedding that is none of the textbook's is not passed over
        outcomes.append(attempted(one.end))
        if one.insists or _certified(outcomes[-1]):
            return outcomes[-1]
    return min(outcomes, key=_rank, default=Refusal("it looks like no component"))


def _rank(outcome: Bound | Refusal) -> tuple[bool, bool]:
    """Return how little an outcome says, the more the greater."""
    return isinstance(outcome, Refusal), outcome.untried if isinstance(outcome, Refusal) else outcome.certified is None


def _without_positions(bound: Bound) -> Bound:
    """Return the binding of plain attention with a word on the positions that its name says it has."""
    said = re.search(PLACED, snake(bound.place.name))
    inside = bound.draft.declares.get("positions-inside", "none")
    if said is None or inside != "none" or bound.draft.component not in ("attention", "multi_head_attention"):
        return bound
    words = f"`{bound.place.name}` computes attention without the positions that its name says (`{said[0]}`)"
    return replace(bound, open_ends=(*bound.open_ends, words))


def attempted(bind: Callable[..., Any], *given: Any) -> Any:
    """Return what an attempt at a binding gives; a Refusal with the exception where it raises one.

    What foreign code raises is told in the attempt itself. This is a fault of ours, which ends one attempt and no run.
    """
    try:
        return bind(*given)
    except Failed as failed:
        return Refusal(str(failed))
    except Exception as fault:
        return Refusal(fault_of_ours(fault))


def _with_own(candidate: Candidate, source: Source, prescribed: Mapping[str, Any]) -> Bound | None:
    """Return the binding of something with the parameters that it has, as what it most likely is, or None."""
    binder: Any = import_module("attnconf.conformance.inference.binders.unbound")
    part, component = part_of(source.module), candidate.components[0]
    found: Bound | Refusal | None = attempted(
        binder.bind,
        Place(candidate.name, candidate.thing, source.module, part, component, of_component(prescribed, component)),
    )
    return None if isinstance(found, Refusal) else found


def _is_certain(outcome: Bound | Refusal) -> bool:
    """Return whether nothing else need be tried; rows by their ids are those of tokens, if nothing says positions."""
    return _certified(outcome) == "reference" and isinstance(outcome, Bound) and outcome.draft.component != "learned"


def _is_layer(outcome: Bound | Refusal) -> bool:
    """Return whether something runs as a layer or a stack: then it is no smaller part."""
    return isinstance(outcome, Bound) and appearances()[outcome.draft.component].binder == "layers"


def _certified(outcome: Bound | Refusal) -> str | None:
    return outcome.certified if isinstance(outcome, Bound) else None


def _implementation(b: Bound, name: str, where: str, named: bool) -> Implementation:
    made = b.draft.implementation(b.place.module, name)
    mistake = b.certified if b.certified and b.certified != "reference" else ""
    bound = Binding(INFERRED, b.place.name, b.established, b.doubt, mistake, named, b.open_ends, b.broken, b.untried,
                    b.draft.body, b.place.lent_by)  # fmt: skip
    return Implementation(
        name,
        made.components,
        b.draft.declares,
        b.profile,
        where,
        notes=(*b.told, *b.calling, f"binding      {b.standing}", *_parts(b, name), *_prescribed(b, where)),
        binding=bound,
    )


def _parts(b: Bound, name: str) -> list[str]:
    """Return a line on the classes that are judged as a part of something only, and how to judge one of them alone."""
    names = ", ".join(part.partition("@")[0] for part in b.parts)
    alone = f"{without_names(name)}:{b.parts[0]}" if b.parts else ""
    return [f"parts        {names}: judged as a part of {b.place.name}; one alone: --impl={alone}"] if b.parts else []


def without_names(label: str) -> str:
    """Return the file or module of what a user typed, without a class and a component behind it."""
    return re.sub(r"(:[\w.]+)?(@\w+)?$", "", label)


def _prescribed(b: Bound, where: str) -> list[str]:
    """Return how the arguments for masks stand to what is prescribed of masks."""
    if "mask" not in b.place.prescribed or "mask" not in COMPONENTS[b.draft.component].forward:
        return []
    text = source_text.text_of(where)
    line = locate(text.text, ["MASK-inverted"], b.place.name) if text else None
    hides = f"{text.place(line)}  {text.text.splitlines()[line - 1].strip()}" if text and line else ""
    return of_masks(b.place.prescribed["mask"], b.masks, hides)


def nothing_in(source: Source) -> str:
    """Return what is said of a file in which nothing looks like a component."""
    there = [
        n
        for n, v in vars(source.module).items()
        if callable(v) and getattr(v, "__module__", "") == source.module.__name__
    ]
    listed = f" ({', '.join(there[:LISTED])}{', …' if len(there) > LISTED else ''})" if there else ""
    return f"nothing in it looks like a component{listed}: name one, FILE:Name, and what it is, @component"


def infer_object(thing: Any, component: str | None = None) -> Implementation | Unjudgeable:
    """Return an implementation for a class or function at hand, defined in a module, a notebook or at the prompt."""
    name = getattr(thing, "__name__", type(thing).__name__)
    module = sys.modules.get(getattr(thing, "__module__", None) or "", ModuleType("defined_here"))
    if getattr(module, name, None) is not thing:
        module = ModuleType(module.__name__)
        setattr(module, name, thing)
    source = of_module(module)
    if source.path is None:
        source = replace(source, kept=source_text.keep(f"{module.__name__}:{name}", [thing]) or "")
    return infer(source, name, name, component)[0]
