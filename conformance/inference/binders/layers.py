"""Bind a class as a layer, a stack or a model: built, called and given weights so that it can be judged."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import appearances, named
from attnconf.conformance.chapters.shared.placements import PLACED
from attnconf.conformance.inference.attention.family import as_many
from attnconf.conformance.inference.attention.one_head import of_stack
from attnconf.conformance.inference.building.building import space_for
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.building.loose_tensors import words_on_loose
from attnconf.conformance.inference.finding.repeated_layers import repeated
from attnconf.conformance.inference.layers import embedded_rows
from attnconf.conformance.inference.layers.conventions import variants
from attnconf.conformance.inference.layers.dropped_branches import by_rate, unscaled
from attnconf.conformance.inference.layers.even_widths import with_even_widths
from attnconf.conformance.inference.layers.finish import (
    LEAST,
    LESS,
    NONE,
    OtherOrder,
    other_eps,
    other_order,
    switches,
    told,
    unturned,
    with_dropping,
    with_its_eps,
)
from attnconf.conformance.inference.layers.hypotheses import hypotheses
from attnconf.conformance.inference.layers.idle_segments import idle_segments
from attnconf.conformance.inference.layers.members import with_members
from attnconf.conformance.inference.layers.said_of_layers import contradicted
from attnconf.conformance.inference.layers.state import State, uncovered
from attnconf.conformance.inference.layers.turned_layers import turned
from attnconf.conformance.inference.layers.unread_parameters import unread
from attnconf.conformance.inference.layers.vector_input import idle_tables
from attnconf.conformance.inference.masks.layer_masks import with_masks
from attnconf.conformance.inference.masks.score_biases import of_near_tokens
from attnconf.conformance.inference.options.idle_arguments import documented
from attnconf.conformance.inference.options.left_out import with_broken
from attnconf.conformance.inference.state.kept_by_models import of_ids
from attnconf.conformance.inference.state.kept_state import DIFFERS
from attnconf.conformance.inference.state.said_of_caches import ONE_ALONE
from attnconf.conformance.inference.texts.language_models import COMPONENT
from attnconf.conformance.inference.texts.layer_forms import layer_forms
from attnconf.conformance.inference.texts.layer_requests import FIRST, plain_requests, request
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.texts.layer_units import hidden_width
from attnconf.conformance.inference.tokens import over_ids
from attnconf.conformance.inference.tokens.claimed_ties import copied, copied_by_option, misnamed, untied
from attnconf.conformance.inference.tokens.padding_id import beside_padding, half_hidden
from attnconf.conformance.inference.tokens.two_paddings import of_source
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.budgets import LAYERS, LIKELIEST
from attnconf.conformance.inference.trials.claims import claims_a_set, says_its_order, says_its_placement
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.proving import Prover, Reading, Trial, first_readings, holds
from attnconf.conformance.inference.trials.trial import Certificate

SHOWN = 3  # parameters that are named
A_SET = "it says that its targets are a set, which no chapter is about"
OF_HEADS = "MHA-heads-fixed"  # a mistake only of what is asked for a number of heads
NO_NETWORK = "no-feed-forward"


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as a layer or a model, or what stands against it."""
    found = begin(place)
    return found.end() if isinstance(found, Unlike) else found


def begin(place: Place) -> "Bound | Refusal | Unlike":
    """Return the binding of what equals the textbook, what stands against one, or what ran and equals no textbook."""
    if isinstance(place.thing, type) and next(layer_forms(place.component, place.thing), None) is None:
        return Refusal(f"it takes fewer inputs than {place.component} has", untried=True)
    prover = Prover[LayerText](place)
    try:
        proof = prover.certified(_proposals(place, prover))
    except NoPart as otherwise:
        return Refusal(str(otherwise))
    if proof is not None:
        return finish(place, _with_its_eps(place, proof.trial), "reference")
    if not prover.ran:
        return prover.refusal(f"it can be neither built nor called as {place.component}")
    if words := misfit(place, prover.ran[0]):
        return Refusal(words)
    return Unlike(place, prover)


class NoPart(Exception):
    """What is tried embeds its inputs in another way than the component; the message says why."""


def _proposals(place: Place, prover: Prover[LayerText]) -> Iterator[Iterator[Reading[LayerText]]]:
    """Yield what the class may be, in all conventions that it may be in; no more where enough ran."""
    certificates: dict[Any, Certificate] = {}
    for text, state in hypotheses(place, prover.failures):
        if not text.whole and (words := embeds_otherwise(place, text)):
            raise NoPart(words)
        yield _readings(place, text, state, certificates)
        ran = first_readings(prover.ran)
        if len({trial.hypothesis.made for trial in ran}) >= LIKELIEST or len(ran) > LAYERS:
            return


def _readings(
    place: Place, text: LayerText, state: State, certificates: dict[Any, Certificate]
) -> Iterator[Reading[LayerText]]:
    for declares in variants(place, text, state):
        this = text.but(declares=declares, refusals=(*text.refusals, *other_eps(declares)))
        key = (text.causal_always, *sorted(declares.items()))
        if key not in certificates:  # what the textbook gives is computed once for the same calls
            certificates[key] = Certificate(place.component, plain_requests(this))
        turns = "rotary-part" in declares and "rotary-inside" in declares  # then a part of each head is asked for
        run = (this.norm_first and "norm_first" in text.made.given, declares.get("norm-kind", "layer"), turns)
        yield Reading(this, certificates[key], run)


@dataclass
class Unlike:
    """What ran as a component and equals no textbook: perhaps a known mistake, which takes long to find out."""

    place: Place
    prover: Prover[LayerText]

    @property
    def whole(self) -> bool:
        """Whether its embeddings are those that the component has, so that equality was to be expected."""
        known = COMPONENTS[self.place.component]
        if self.place.component == COMPONENT:  # all parameters that count are known by now
            return True
        return known.layered and known.reads_ids and self.prover.ran[0].hypothesis.whole

    @property
    def insists(self) -> bool:
        """Whether it is that component, and no part of it another, also where no known mistake explains it."""
        return self.whole

    def end(self) -> Bound:
        """Return the binding of what equals a known mistake, else of what ran first."""
        found: list[Bound] = []
        for trial, mistake in islice(self._alike(), LIKELIEST):
            text = with_masks(self.place, self._in_doubt(trial.hypothesis, mistake), mistake)
            found.append(bound(self.place, trial, text, mistake))
            if not text.decodes or agrees(self.place, text, mistake):
                return found[-1]
        return found[0] if found else finish(self.place, self.prover.ran[0], None)

    def _in_doubt(self, text: LayerText, mistake: str) -> LayerText:
        """Return the text, in doubt where it may be meant to be the layer that others have published so."""
        published = named(mistake).published
        if not published or "norm_first" in text.made.given or says_its_order(self.place.thing):
            return text
        return text.but(doubt=f"it is a layer of another kind, {published}")

    def _placed(self) -> list[Trial[LayerText]]:
        """Return what ran with its norms, or its sublayers, in another place than usual, where it says so of itself."""
        return self._in(PLACED) if says_its_placement(self.place.thing) else []

    def _in(self, orders: Collection[str]) -> list[Trial[LayerText]]:
        ran = [trial for trial in self.prover.ran if trial.hypothesis.declares.get("norm-order") in orders]
        return first_readings(ran)[:LIKELIEST]

    def _alike(self) -> Iterator[tuple[Trial[LayerText], str]]:
        """Yield what ran with a known mistake that gives its replies."""
        likeliest = first_readings(self.prover.ran)[:LIKELIEST]
        for trial in [*self._placed(), *likeliest, *self._in(("parallel",))]:  # the last ones: with a single norm
            for mistake in trial.mistakes():
                of_attention = NO_NETWORK in mistake.id and "att" in self.place.name.lower()  # by its name: no layer
                heads_fixed = mistake.id.startswith(OF_HEADS) and "heads" not in trial.hypothesis.made.given
                if not (of_attention or heads_fixed):
                    yield trial, mistake.id


def agrees(place: Place, text: LayerText, mistake: str) -> bool:
    """Return whether a text with its masks gives what a mistake gives for several targets: one has no later ones."""
    causal = text.declares.get("causality") == "always"
    asked = request(place.component, text.declares, FIRST.but(L=6, S=7), (2, 2), causal=causal)
    return holds(place, text, [asked], mistake)


def misfit(place: Place, trial: Trial[LayerText]) -> str:
    """Return why what equals no textbook cannot be judged as this component either; nothing where it can."""
    made = trial.hypothesis.made
    if "layers" in appearances()[place.component].sizes and not {"layers", "decoder_layers"} & made.given:
        return f"{made.text}: its number of layers cannot be chosen, so it is not judged as {place.component}"
    return no_weights(place, trial.hypothesis, trial.certificate.requests[0].config)


def embeds_otherwise(place: Place, text: LayerText) -> str:
    """Return why a model that embeds its ids in another way than ours is none; nothing of what has vectors for ids.

    No conventions have to be tried then, each of which would be computed.
    """
    known = COMPONENTS[place.component]
    if not (known.layered and known.reads_ids):
        return ""
    return no_weights(place, text, request(place.component, {}, FIRST, (2, 2)).config)


def no_weights(place: Place, text: LayerText, config: Any) -> str:
    """Return words on a parameter that the output depends on and that is no weight of ours; nothing without one."""
    drawn = drawn_anew(place, text, config)
    return f"{drawn[0]} is no parameter of {place.component}, and what comes out depends on it" if drawn else ""


def drawn_anew(place: Place, text: LayerText, config: Any) -> list[str]:
    """Return the parameters that are used, but are no weights of ours, and have other values in every construction."""
    try:
        first, second = (dict(build(place, text.made, config).named_parameters()) for _ in range(2))
    except Failed:
        return []
    shapes = {name: tuple(p.shape) for name, p in first.items()}
    given = "hidden" in text.made.given
    if given and hidden_width(shapes, FIRST.width, config.hidden_dim) != config.hidden_dim:
        return []  # it ignores what it is given, which is its mistake
    names = uncovered(text.entries, text.stacks, text.used)
    return [name for name in names if not torch.equal(first[name], second[name])]


# -- the rest


def _with_its_eps(place: Place, trial: Trial[LayerText]) -> Trial[LayerText]:
    """Return what equals the textbook with the ε that is seen where it counts."""
    text = trial.hypothesis
    found = with_its_eps(place, text)
    if found == text.declares:
        return trial
    none = found.get("eps") == NONE
    declares = {**found, "eps": LEAST} if none else found
    refusals = [one for one in text.refusals if one not in other_eps(text.declares)]
    text = text.but(refusals=(*refusals, *other_eps(declares)), declares=declares)
    text = text.but(left_alone=(*text.left_alone, *(LESS if none else ())))
    return replace(trial, hypothesis=text, certificate=Certificate(place.component, plain_requests(text)))


def finish(place: Place, trial: Trial[LayerText], certified: str | None) -> Bound:
    """Return the binding with masks, which are looked for once the rest is known."""
    return bound(place, trial, with_masks(place, trial.hypothesis, certified), certified)


def bound(place: Place, trial: Trial[LayerText], text: LayerText, certified: str | None) -> Bound:
    """Return the binding of a text that has its masks."""
    text = of_near_tokens(place, with_members(place, text)) if certified == "reference" else text
    other = other_order(place, text) if "norm_first" in text.made.given else OtherOrder(False)
    if other.alike:
        text = text.but(declares={**text.declares, "norm-order": "both"})
    unpadded = (
        ["no id is padding: what it does with one that is, is not judged"] if "unpadded(" in text.made.text else []
    )
    kept = as_many(text.made.text)
    ends = ["its log_softmax: its logits are judged"] if "before_log_softmax(" in text.made.text else []
    text = text.but(left_alone=(*text.left_alone, *unturned(place, text), *other.told, *unpadded, *ends, *kept))
    asked = trial.certificate.requests[0]
    text = text.but(declares={**text.declares, **of_stack(place, text, asked.config)}) if certified else text
    if text.known.reads_ids:
        text = beside_padding(place, text, asked)
    if text.padded:
        text = text.but(left_alone=(*text.left_alone, "id 0, its padding: ids are those after it"))
    text = with_even_widths(place, with_dropping(place, text, asked))
    cache = of_ids(place, text.made, asked.config)
    text = text.but(left_alone=(*text.left_alone, *([cache] if ONE_ALONE in cache else [])))
    ties, (shared, sharing) = copied(place, text, asked.config), repeated(place)
    ties = ties or copied_by_option(place, text, asked.config)
    unscaled_branches, unscaled_by_choice = unscaled(place)
    broken = (*([cache] if DIFFERS in cache else []), *ties, *shared, *_hidden_without_effect(place, text),
              *other.broken, *half_hidden(place, text, asked), *misnamed(place, text, asked.config),
              *over_ids.of_layers(place, text, asked.config), *of_source(place, text, asked.config),
              *embedded_rows.shared(place, text, asked.config), *unscaled_branches,
              *by_rate(place, text, asked), *contradicted(place, text))  # fmt: skip
    open_ends = (*text.untried, *unapplied(place, text, asked.config), *switches(text),
                 *([cache] if cache and DIFFERS not in cache and ONE_ALONE not in cache else []),
                 *sharing, *words_on_loose(place, text.made, asked.config), *unread(place, text), *unscaled_by_choice,
                 *embedded_rows.passed_by(place, text, asked.config), *idle_segments(place, text, asked.config),
                 *(() if ties else untied(place, text)))  # fmt: skip
    unordered = text.decodes and not any(mask.which == "self" for mask in text.masks.values())
    doubt = text.doubt or (A_SET if unordered and claims_a_set(place.thing) else "")
    if certified == "reference":
        text, mistake, wide = turned(place, text)
        certified, broken = mistake or certified, (*broken, *wide)
    found = Bound(place, text.draft(), None, certified, told(text), text.kinds, doubt, open_ends, broken)
    return with_broken(found, asked)


def _hidden_without_effect(place: Place, text: LayerText) -> tuple[str, ...]:
    """Return words on an argument for the hidden width, where that is a multiple of the model's whatever is given."""
    given = re.search(r"(\w+)=config\.hidden_dim(?=[,)])", text.made.text)
    headed = "handed(" in text.made.text  # perhaps it is the width of a head behind what is judged
    if given is None or headed or "hidden-ratio" not in text.declares or documented(place, given[1]):
        return ()
    width = f"the hidden width is {text.declares['hidden-ratio']} times the model's, whatever is asked for"
    return (f"the argument `{given[1]}` of the constructor has no effect: {width}",)


def unapplied(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on the parameters of a layer that exist and are never applied; of what embeds, on the tables."""
    idle = text.unused
    if "handed(" in text.made.text:
        space = space_for(config, place.module)
        idle = idle_tables(text.made, text.form, space)
    if not idle:
        return ()
    return (f"the parameter{'s' if len(idle) > 1 else ''} {', '.join(idle[:SHOWN])} "
            f"{'are' if len(idle) > 1 else 'is'} never applied",)  # fmt: skip
