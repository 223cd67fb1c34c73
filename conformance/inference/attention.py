"""Bind a class as multi-head attention: built, called and given weights so that it can be judged."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import torch
from torch import nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.door import Reply
from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.attention_finish import finish
from attnconf.conformance.inference.attention_probe import Probe
from attnconf.conformance.inference.attention_requests import (
    COMPONENT,
    ONE,
    SEVERAL,
    config_of,
    declared,
    plain_certificate,
)
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Attempts, Bound, Place, Refusal, refused
from attnconf.conformance.inference.calling import Form, attention_forms
from attnconf.conformance.inference.construction import Construction, constructions, filled, integers_of, run, space_for
from attnconf.conformance.inference.masking import mask_forms
from attnconf.conformance.inference.probing import Failed, attempt, norms_in
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, Draft, why

TABLE: Mapping[str, tuple[str, ...]] = {
    "embed": ("config.embed_dim",),
    "out": ("config.out_dim",),
    "heads": ("config.num_heads",),
    "head_dim": ("config.head_dim", "config.num_heads", "config.embed_dim"),
    "key_dim": ("config.key_dim",),
    "value_dim": ("config.value_dim",),
    "max_len": ("256",),
    "dropout": ("config.dropout",),
    "bias": ("config.bias",),
    "causal": ("config.causal",),
    "device": ('weights["q.weight"].device',),
    "dtype": ('weights["q.weight"].dtype',),
    "config": (),
}
ENOUGH = 6  # hypotheses of one construction that run but are not certified
AT_MOST = 120  # hypotheses in all


@dataclass
class AttentionAttempts(Attempts):
    """Also what runs, but with numbers of samples of its own only."""

    partial: list[AttentionText] = field(default_factory=list)


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as multi-head attention, or what stands against it."""
    attempts = AttentionAttempts()
    ran: list[tuple[AttentionText, float, list[Reply | Failure], Certificate]] = []
    for text, sizes in islice(texts(place, attempts), AT_MOST):
        if sum(t.made == text.made for t, *_ in ran) == ENOUGH:
            continue
        certificate = plain_certificate(text, sizes)
        draft = Draft(COMPONENT, text.body(), declared(text))
        given = certificate.replies(draft.implementation(place.module))
        distance = certificate.distance(given, draft.declares)
        if distance <= ROUNDING:
            return finish(place, text, sizes, "reference")
        if distance < FAILED:
            ran.append((text, distance, given, certificate))
        elif given and isinstance(given[-1], Failure):
            attempts.say(why(given[-1]))
    if not ran and attempts.partial:
        return finish(place, attempts.partial[0], sizes_of(attempts.partial[0]), None)
    if not ran:
        return refused(attempts.failures, "it can be neither built nor called as attention")
    for text, _, given, certificate in ran:
        mistakes = certificate.mistakes(given, declared(text))
        if mistakes:
            return finish(place, text, sizes_of(text), mistakes[0].id)
    return finish(place, ran[0][0], sizes_of(ran[0][0]), None)


def sizes_of(text: AttentionText) -> tuple[tuple[int, int, int], ...]:
    return SEVERAL if "heads" in text.made.given else ONE


def texts(
    place: Place, attempts: AttentionAttempts
) -> Iterator[tuple[AttentionText, tuple[tuple[int, int, int], ...]]]:
    """Yield what the class may be, the likeliest first."""
    for made in constructions(place.name_in_text, place.thing, TABLE, place.module, place.part):
        sizes = SEVERAL if "heads" in made.given else ONE
        config = config_of(sizes[0])
        numbered = {"q.weight": torch.zeros(1, dtype=torch.float64)}
        space = space_for(config, place.module, weights=numbered)
        try:
            whole = attempt(partial(filled, made, TABLE, place.module, space))
            module = attempt(partial(run, whole, space))
        except Failed as error:
            attempts.say(f"{made.text}: {error}")
            continue
        if not isinstance(module, nn.Module):
            attempts.say(f"{place.name} is no torch.nn.Module")
            return
        sizes = SEVERAL if "heads" in whole.given else ONE
        if "heads" in whole.given and "heads" not in made.given:  # said by a configuration
            config = config_of(sizes[0])
            space = space_for(config, place.module, weights=numbered)
            module = attempt(partial(run, whole, space))
        for form in attention_forms(module):
            for text in _of_form(place, whole, form, module, config, attempts):
                yield text, sizes


def _of_form(
    place: Place,
    made: Construction,
    form: Form,
    module: nn.Module,
    config: MultiHeadAttentionConfig,
    attempts: AttentionAttempts,
) -> Iterator[AttentionText]:
    """Yield what the class may be where it is called in one form."""
    for first in (False, True):
        lazy = any(isinstance(p, nn.parameter.UninitializedParameter) for p in module.parameters())
        text = AttentionText(made, form, sequence_first=first, lazy=lazy)
        text = text.but(stripped=tuple(norms_in(module)))
        probe = Probe(copy.deepcopy(module), text, config)
        try:
            yield from _weighed(probe.called(), probe)
        except Failed as error:
            attempts.say(f"called with {form.text(lambda slot: slot.role)}: {error}")
            if any(probe.runs_with(samples) for samples in integers_of(place.thing)):
                named = next(probe.weighings(), None)
                attempts.partial += [text.but(state=named.state, lacking=named.lacking)] if named else []
                continue
            names = [slot.name for slot in form.slots if slot.role == "mask"]
            for mask in mask_forms(text) if names else ():
                try:
                    probe.text = text.but(masks={names[0]: mask}, needs_mask=True)
                    yield from _weighed(probe.called(), probe)
                except Failed:
                    continue


def _weighed(text: AttentionText, probe: Probe) -> Iterator[AttentionText]:
    """Yield a text with what the parameters may be."""
    for weighing in probe.weighings():
        for heads_last in (False, True) if "heads" in text.made.given else (False,):
            found = text.but(state=weighing.state, lacking=weighing.lacking, heads_last=heads_last)
            yield found
            if text.causal_always:  # heads that are merged wrongly mix tokens up as well
                yield found.but(causal_always=False)
