"""Bind a class as a layer, a stack or a model: built, called and given weights so that it can be judged."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.binding import Attempts, Bound, Place, Refusal, refused
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.kept_state import UNTRIED, of_ids
from attnconf.conformance.inference.layer_conventions import variants
from attnconf.conformance.inference.layer_eps import LEAST, NONE, eps_of, other_eps, said
from attnconf.conformance.inference.layer_forms import layer_forms
from attnconf.conformance.inference.layer_hypotheses import hypotheses
from attnconf.conformance.inference.layer_masks import with_masks
from attnconf.conformance.inference.layer_probe import Called
from attnconf.conformance.inference.layer_requests import FIRST, plain_requests, request
from attnconf.conformance.inference.layer_state import State, uncovered
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.layer_told import switches, told, unturned
from attnconf.conformance.inference.layer_trace import Trace
from attnconf.conformance.inference.layer_units import hidden_width
from attnconf.conformance.inference.left_out import documented, with_broken
from attnconf.conformance.inference.norm_orders import OtherOrder, other_order
from attnconf.conformance.inference.padding_id import beside_padding, half_hidden
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, why
from attnconf.conformance.inference.unchosen_dropping import with_dropping
from attnconf.conformance.inference.vector_input import idle_tables

MISTAKES = 3  # known ones that are alike where there is one target, of which each is tried with masks
SHOWN = 3  # parameters that are named
OF_HEADS = "MHA-heads-fixed"  # a mistake only of what is asked for a number of heads


@dataclass
class Tried:
    """A text that ran, in the conventions that are likeliest, and how far it is from the textbook."""

    text: LayerText
    declares: Mapping[str, str]
    norm_first: bool
    distance: float
    given: list[Reply | Failure]
    certificate: Certificate
    trace: Trace


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as a layer or a model, or what stands against it."""
    found = begin(place)
    return found.end() if isinstance(found, Unlike) else found


def begin(place: Place) -> "Bound | Refusal | Unlike":
    """Return the binding of what equals the textbook, what stands against one, or what ran and equals no textbook."""
    attempts, tried = Attempts(), list[Tried]()
    if isinstance(place.thing, type) and next(layer_forms(place.component, place.thing), None) is None:
        return Refusal(f"it takes fewer inputs than {place.component} has")
    for text, state, trace, called in hypotheses(place, attempts):
        if words := "" if text.whole else embeds_otherwise(place, text, trace):
            return Refusal(words)
        for one in trials(place, text, state, trace, called, attempts):
            if one.distance <= ROUNDING:
                return finish(place, one, "reference")
            tried.append(one)
        if len({one.text.made for one in tried}) > 2 or len(tried) > 8:
            break
    if not tried:
        return refused(attempts.failures, f"it can be neither built nor called as {place.component}")
    if words := misfit(place, tried[0]):
        return Refusal(words)
    return Unlike(place, tried)


@dataclass
class Unlike:
    """What ran as a component and equals no textbook: perhaps a known mistake, which takes long to find out."""

    place: Place
    tried: list[Tried]

    @property
    def whole(self) -> bool:
        """Whether its embeddings are those that the component has, so that equality was to be expected."""
        known = COMPONENTS[self.place.component]
        return known.layered and known.reads_ids and self.tried[0].text.whole

    def end(self) -> Bound:
        """Return the binding of what equals a known mistake, else of what was nearest."""
        found: list[Bound] = []
        for one, mistake in islice(self._alike(), MISTAKES):
            text = with_masks(self.place, one.text, one.declares, one.norm_first, mistake)
            found.append(bound(self.place, one, text, mistake))
            if not text.decodes or agrees(self.place, one, text, mistake):
                return found[-1]
        return found[0] if found else finish(self.place, self.tried[0], None)

    def _alike(self) -> Iterator[tuple[Tried, str]]:
        """Yield what ran with a known mistake that gives its replies."""
        alike: dict[Any, Certificate] = {}  # the mistakes' replies are computed once for the same calls
        for one in self.tried[:3]:
            key = (one.norm_first, one.text.causal_always, one.text.decodes, *sorted(one.declares.items()))
            first = alike.setdefault(key, Certificate(self.place.component, one.certificate.requests[:1]))
            for mistake in first.mistakes(one.given[:1], one.declares):
                if mistake.id.startswith(OF_HEADS) and "heads" not in one.text.made.given:
                    continue
                if one.certificate.distance(one.given, one.declares, mistake.id) <= ROUNDING:
                    yield one, mistake.id


def agrees(place: Place, one: Tried, text: LayerText, mistake: str) -> bool:
    """Return whether a text with its masks gives what a mistake gives for several targets: one has no later ones."""
    causal = one.declares.get("causality") == "always"
    several = FIRST.but(L=6, S=7)
    asked = request(place.component, one.declares, several, one.norm_first, (2, 2), causal=causal)
    certificate = Certificate(place.component, [asked])
    given = certificate.replies(text.implementation(place, one.declares))
    return certificate.distance(given, one.declares, mistake) <= ROUNDING


def misfit(place: Place, one: Tried) -> str:
    """Return why what equals no textbook cannot be judged as this component either; nothing where it can."""
    if "layers" in appearances()[place.component].sizes and not {"layers", "decoder_layers"} & one.text.made.given:
        return f"{one.text.made.text}: its number of layers cannot be chosen, so it is not judged as {place.component}"
    return no_weights(place, one.text, one.trace, one.certificate.requests[0].config)


def embeds_otherwise(place: Place, text: LayerText, trace: Trace) -> str:
    """Return why a model that embeds its ids in another way than ours is none; nothing of what has vectors for ids.

    No conventions have to be tried then, each of which would be computed.
    """
    known = COMPONENTS[place.component]
    if not (known.layered and known.reads_ids):
        return ""
    return no_weights(place, text, trace, request(place.component, {}, FIRST, False, (2, 2)).config)


def no_weights(place: Place, text: LayerText, trace: Trace, config: Any) -> str:
    """Return words on a parameter that the output depends on and that is no weight of ours; nothing without one."""
    drawn = drawn_anew(place, text, trace, config)
    return f"{drawn[0]} is no parameter of {place.component}, and what comes out depends on it" if drawn else ""


def drawn_anew(place: Place, text: LayerText, trace: Trace, config: Any) -> list[str]:
    """Return the parameters that are used, but are no weights of ours, and have other values in every construction."""
    space = space_for(config, place.module, weights={"": torch.zeros(1, dtype=torch.float64)})
    try:
        first, second = (dict(attempt(partial(run, text.made, space)).named_parameters()) for _ in range(2))
    except Failed:
        return []
    shapes = {name: tuple(p.shape) for name, p in first.items()}
    given = "hidden" in text.made.given
    if given and hidden_width(shapes, FIRST.width, config.hidden_dim) != config.hidden_dim:
        return []  # it ignores what it is given, which is its mistake
    names = uncovered(text.entries, text.stacks, [name for name in trace.order if name in trace.used])
    return [name for name in names if not torch.equal(first[name], second[name])]


# -- conventions


def trials(
    place: Place, text: LayerText, state: State, trace: Trace, called: Called, attempts: Attempts
) -> Iterator[Tried]:
    """Yield a text in all conventions that it may be in, the likeliest first; the nearest last where none fits."""
    nearest: Tried | None = None
    given: dict[tuple[bool, str], tuple[list[Reply | Failure], list[Request]]] = {}
    for declares, norm_first in variants(place, text, state, trace):
        requests = plain_requests(text, declares, norm_first)
        key = (norm_first if "norm_first" in text.made.given else False, declares.get("norm-kind", "layer"))
        variant = text.but(refusals=(*text.refusals, *other_eps(declares)))
        certificate, first = Certificate(place.component, requests), Certificate(place.component, requests[:1])
        if key not in given:
            implementation = variant.implementation(place, declares)
            given[key] = (certificate.replies(implementation), requests)
        replies, _ = given[key]
        if replies and isinstance(replies[-1], Failure):
            attempts.say(why(replies[-1]))
            if "eps" not in declares or "norm_first" not in text.made.given:
                return
        distance = first.distance(replies[:1], declares)
        if distance <= ROUNDING or nearest is None:
            distance = certificate.distance(replies, declares)
        one = Tried(variant, declares, norm_first, distance, replies, certificate, trace)
        if distance <= ROUNDING:
            yield _with_its_eps(place, text, one)
            return
        if distance < FAILED and nearest is None:
            nearest = one
    if nearest is not None:
        yield nearest


def _with_its_eps(place: Place, text: LayerText, one: Tried) -> Tried:
    """Return what equals the textbook with the ε that is seen where it counts."""
    eps = eps_of(place, text, one.declares, one.norm_first)
    if eps == one.declares.get("eps", ""):
        return one
    declares = {**one.declares, "eps": LEAST if eps == NONE else eps}
    text = text.but(refusals=(*text.refusals, *other_eps(declares)), left_alone=(*text.left_alone, *said(eps)))
    certificate = Certificate(place.component, plain_requests(text, declares, one.norm_first))
    distance = certificate.distance(one.given, declares)
    return replace(one, text=text, declares=declares, distance=distance, certificate=certificate)


# -- the rest


def finish(place: Place, one: Tried, certified: str | None) -> Bound:
    """Return the binding with masks, which are looked for once the rest is known."""
    return bound(place, one, with_masks(place, one.text, one.declares, one.norm_first, certified), certified)


def bound(place: Place, one: Tried, text: LayerText, certified: str | None) -> Bound:
    """Return the binding of a text that has its masks."""
    declares = dict(one.declares)
    other = other_order(place, text, declares) if "norm_first" in text.made.given else OtherOrder(True)
    if "norm_first" in text.made.given and other.alike:
        declares["norm-order"] = "both"
    unpadded = (
        ["no id is padding: what it does with one that is, is not judged"] if "unpadded(" in text.made.text else []
    )
    text = text.but(left_alone=(*text.left_alone, *unturned(place, text), *other.told, *unpadded))
    asked = one.certificate.requests[0]
    if text.known.reads_ids:
        text = beside_padding(place, text, declares, asked)
    text = with_dropping(place, text, asked)
    draft = text.draft(declares)
    kept = of_ids(place.thing, place.module, text.made, asked.config)
    broken = (*(words for words in kept if UNTRIED not in words), *_hidden_without_effect(place, text, declares),
              *other.broken, *half_hidden(place, text, declares, asked))  # fmt: skip
    open_ends = (*unapplied(place, one), *switches(text), *(words for words in kept if UNTRIED in words))
    found = Bound(place, draft, None, certified, told(text), text.kinds, text.doubt, open_ends, broken)
    return with_broken(found, asked)


def _hidden_without_effect(place: Place, text: LayerText, declares: Mapping[str, str]) -> tuple[str, ...]:
    """Return words on an argument for the hidden width, where that is a multiple of the model's whatever is given."""
    given = re.search(r"(\w+)=config\.hidden_dim(?=[,)])", text.made.text)
    if given is None or "hidden-ratio" not in declares or documented(place, given[1]):
        return ()
    width = f"the hidden width is {declares['hidden-ratio']} times the model's, whatever is asked for"
    return (f"the argument `{given[1]}` of the constructor has no effect: {width}",)


def unapplied(place: Place, one: Tried) -> tuple[str, ...]:
    """Return a word on the parameters of a layer that exist and are never applied; of what embeds, on the tables."""
    idle = [name for name in one.trace.order if name not in one.trace.used]
    if "handed(" in one.text.made.text:
        config = one.certificate.requests[0].config
        space = space_for(config, place.module, weights={"": torch.zeros(1, dtype=torch.float64)})
        idle = idle_tables(one.text.made, one.text.form, space)
    if not idle:
        return ()
    return (f"the parameter{'s' if len(idle) > 1 else ''} {', '.join(idle[:SHOWN])} "
            f"{'are' if len(idle) > 1 else 'is'} never applied",)  # fmt: skip
