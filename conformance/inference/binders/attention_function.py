"""Bind a function, or a class without parameters, as scaled dot-product attention."""

import contextlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any, cast

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.chapters.attention.binding import APPEARANCES
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.attention.finish import masks_told, remarks
from attnconf.conformance.inference.attention.flags import with_flags
from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.building.configurations import filled
from attnconf.conformance.inference.building.construction import constructions
from attnconf.conformance.inference.masks.forms import insisted_on
from attnconf.conformance.inference.masks.masking import with_masks
from attnconf.conformance.inference.options.left_out import with_broken
from attnconf.conformance.inference.texts.function_text import (
    BESIDE_DROPOUT,
    COMPONENT,
    FLAT,
    LAYOUTS,
    OF_COLUMNS,
    ONE_QUERY,
    PACKED,
    SINGLE,
    FunctionText,
)
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.calling import Form, Slot, attention_forms, parameters, polarities
from attnconf.conformance.inference.trials.claims import claims_batches_only, claims_columns, claims_one_shape
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.proving import Prover, Reading, holds, prove
from attnconf.conformance.inference.trials.trial import Certificate, drawn, kept_certificate
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings

TABLE = APPEARANCES["attention"].sizes
SIZES = ((2, 3, 4, 6, 5, 7), (3, 2, 5, 4, 6, 6))  # B, H, L, S, E, F of the trials


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a function as attention, or what stands against it."""
    prover = Prover[FunctionText](place)
    proof = prove(prover, (_readings(text, prover) for text in _likely(place, prover)))
    if proof is None:
        return prover.refusal("it cannot be called as attention")
    return finish(place, proof.hypothesis, proof.certified)


def _likely(place: Place, prover: Prover[FunctionText]) -> Iterator[FunctionText]:
    """Yield the texts, but none with less where the same with more runs: it is something else then.

    Less: values of the keys' width where another width runs, a mask where it runs without one, as many keys as queries
    where other numbers run, and no words say that there is one shape.
    """
    for text in texts(place):
        ran = [trial.hypothesis for trial in prover.ran]
        if text.square and any(not one.square for one in ran) and not claims_one_shape(place.thing):
            continue
        narrow = not text.value_width and text.but(value_width=True) in ran
        if not narrow and not (text.needs_mask and any(not one.needs_mask for one in ran)):
            yield text


def _readings(text: FunctionText, prover: Prover[FunctionText]) -> Iterator[Reading[FunctionText]]:
    """Yield a text, and where its code complains that it gets both dtypes, such that it may use float32."""
    certificate = plain_certificate(text)
    yield Reading(text, certificate)
    words = prover.failure.message if prover.failure else ""
    if "Double" in words and "Float" in words:
        yield Reading(text.but(in_float32=True), certificate, "float32")


def texts(place: Place) -> Iterator[FunctionText]:
    """Yield what the function may be, the likeliest first."""
    makings: Iterator[Construction] | list[Construction] = [Construction(place.name_in_text)]
    if isinstance(place.thing, type):
        makings = _constructions(place)
    for made in makings:
        if isinstance(place.thing, type) and _has_parameters(made, place):
            return
        for form, flags in ((f, flags) for f in _forms(place.thing) for flags in polarities(f)):
            outs = product(_layouts(form, place.thing), ("result", "result[0]", "result[1]"))
            plain = [FunctionText(made, form, out=out, layout=layout, flags=flags) for layout, out in outs]
            needing = (cast(FunctionText, needy) for one in plain for needy in insisted_on(one))
            for base in chain(plain, needing):
                yield base
                yield base.but(value_width=False)
                if "causal" not in made.given and not flags:  # who asks for it gets both
                    yield base.but(causal_always=True)
                    yield base.but(causal_always=True, square=True)
                yield base.but(square=True)
                yield base.but(value_width=False, square=True)


def _constructions(place: Place) -> Iterator[Construction]:
    """Yield the ways to build a class, with configurations written out."""
    for made in constructions(place.name_in_text, place.thing, TABLE, place.module, place.part):
        space = space_for(AttentionConfig(), place.module, query=torch.zeros(1, 2, 3, 4))
        with contextlib.suppress(Failed):
            yield attempt(partial(filled, made, TABLE, place.module, space))


def _has_parameters(made: Construction, place: Place) -> bool:
    """Return whether what is built is more than a function of its inputs."""
    space = space_for(AttentionConfig(), place.module, query=torch.zeros(1, 2, 3, 4))
    try:
        module = attempt(lambda: run(made, space))
    except Failed:
        return False
    return isinstance(module, nn.Module) and any(True for _ in module.parameters())


def _forms(thing: Any) -> Iterator[Form]:
    """Yield the forms, with what is no input of attention left out, or given what its name says."""
    extra: dict[str, str] = {}
    for p in parameters(thing):
        found = meanings(p.name, INPUTS)
        for role in ("dropout", "scale", "training"):
            if role in found and not {"query", "key", "value"} & set(found):
                extra[p.name] = role
        if re.fullmatch(r"d_?k|dim|d|head_?dim|d_?head|dk|d_?model", p.name.lower()):
            extra[p.name] = "size"
        if not isinstance(thing, type) and "heads" in meanings(p.name) and not found:
            extra[p.name] = "heads"
    for form in attention_forms(thing):
        if isinstance(thing, type) and not {"query", "key", "value"} <= set(form.roles):
            continue  # attention with projections, which has no weights
        form = Form(tuple(replace(s, role=extra.get(s.name, s.role)) for s in form.slots))
        for name in (n for n, role in extra.items() if role == "heads"):
            form = form.giving(name, "heads")
        for p in (p for p in parameters(thing) if extra.get(p.name) == "size" and _is_width(p.default)):
            form = form.giving(p.name, "size")
        yield form


def _is_width(default: Any) -> bool:
    """Return whether the default of what is called a width may be one: none is an axis, or a switch."""
    return type(default) is int and default > 1


def _layouts(form: Form, thing: Any) -> list[str]:
    """Return how inputs may be laid out, the likeliest first: whoever is told the number of heads splits them."""
    here = [*LAYOUTS]
    first = "".join(p.name[0].lower() for p in parameters(thing)[:3])
    if first == "qkv" and claims_batches_only(thing):
        here = [FLAT, *(x for x in here if x not in (SINGLE, FLAT))]
    if claims_columns(thing) and not form.of("mask"):
        here = [*here, *OF_COLUMNS]
    if form.slots[0].role == "query":
        here = [*here, *ONE_QUERY]
    return [*PACKED, *here] if form.of("heads") else here


def plain_certificate(text: FunctionText) -> Certificate:
    """Return calls without masks, in two sizes; the same for all texts that are asked alike."""
    key = ("plain", text.value_width, text.causal_always, text.square)
    return kept_certificate(COMPONENT, key, lambda: [request(text, size, 0, 0, 0, {}) for size in SIZES])


def request(
    text: Any, size: tuple[int, ...], B: int, L: int, S: int, masks: Mapping[str, Tensor], **options: Any
) -> Request:
    """Return one call on fresh inputs; B, L and S are those of the masks, where there are masks."""
    _, H, L0, S0, E, F = size
    B, L, S = (B or size[0]), (L or L0), (S or S0)
    F, S = F if text.value_width else E, L if text.square else S
    config = AttentionConfig(causal=options.pop("causal", False) or text.causal_always)
    inputs = {"query": drawn("q", B, H, L, E) * 1.5, "key": drawn("k", B, H, S, E), "value": drawn("v", B, H, S, F)}
    return Request(COMPONENT, config, {}, {**inputs, **masks}, (B, H, L, F), **options)


def finish(place: Place, text: FunctionText, certified: str | None) -> Bound:
    """Return the binding with masks, returned weights, scale and dropout, which are looked for one by one."""
    text = cast(FunctionText, with_flags(place, text, SIZES, request, certified))
    text = cast(FunctionText, with_masks(place, text, SIZES, request, certified))
    text = with_dropout(place, with_scale(place, text, request(text, SIZES[0], 0, 0, 0, {})),
                        request(text, SIZES[0], 0, 0, 0, {}))  # fmt: skip
    shown = re.sub(r"\btheirs\.", "", text.made.text)
    told = (
        f"constructor  {shown}" if isinstance(place.thing, type) else f"function     {shown}",
        f"forward      ({text.form.text(text._argument)}) -> {text.out}, inputs {text.layout}",
        f"masks        {masks_told(text) or 'none'}",
        *(["precision    it computes in float32"] if text.in_float32 else []),
        *remarks(text),
    )
    found = Bound(place, text.draft(), None, certified, told, text.kinds, text.doubt)
    return with_broken(found, request(text, SIZES[0], 4, 8, 8, {}))


# -- options: a scale, and dropout with what it needs


def with_scale(place: Place, text: "FunctionText", one: Request) -> "FunctionText":
    """Return the text with an argument for the scale, where one does what it should."""
    slot = next((p for p in parameters(place.thing) if "scale" in meanings(p.name, INPUTS)), None)
    if slot is None or isinstance(slot.default, bool):
        return text
    candidate = text.but(scale="config.scale", form=_including(text.form, slot, "scale"))
    return candidate if holds(place, candidate, [replace(one, config=AttentionConfig(scale=0.3))]) else text


def with_dropout(place: Place, text: "FunctionText", one: Request) -> "FunctionText":
    """Return the text with an argument for dropout: one that drops everything where its probability is 1."""
    slot = next((p for p in parameters(place.thing) if "dropout" in meanings(p.name, INPUTS)), None)
    if slot is None:
        return text
    probability, module = (
        "config.dropout if config.training else 0.0",
        "nn.Dropout(config.dropout).train(config.training)",
    )
    form = _including(text.form, slot, "dropout")
    for p in parameters(place.thing):
        for role in set(BESIDE_DROPOUT) & set(meanings(p.name, INPUTS)) if p.default is not p.empty else ():
            form = _including(form, p, role)
    for words in (probability, "config.dropout", module):
        candidate = text.but(dropout=words, form=form)
        draft = candidate.implementation(place)
        asked = Certificate(COMPONENT, [replace(one, config=AttentionConfig(dropout=1.0, training=True), seed=0)])
        kept = Certificate(COMPONENT, [replace(one, config=AttentionConfig(dropout=1.0))])
        given, whole = asked.replies(draft), kept.replies(draft)
        if (
            isinstance(given[0], Reply)
            and not bool(given[0].out.nan_to_num().any())  # 0/0 where it divides by 1 - p = 0
            and kept.agrees(whole, text.conventions())
        ):
            return candidate
    return text


def _including(form: Form, p: inspect.Parameter, role: str) -> Form:
    if p.name in {slot.name for slot in form.slots}:
        return form.giving(p.name, role)
    return Form((*form.slots, Slot(p.name, role, False, p.default is p.empty)))
