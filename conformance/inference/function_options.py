"""What a function that is attention can be asked for besides: a scale, and dropout with what it needs."""

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.calling import Form, Slot, parameters
from attnconf.conformance.inference.trial import Certificate
from attnconf.conformance.inference.vocabulary import INPUTS, meanings

if TYPE_CHECKING:
    from attnconf.conformance.inference.attention_function import FunctionText

COMPONENT = "attention"
# What an argument gets without which dropout may not drop.
BESIDE_DROPOUT = {
    "training": "config.training", "deterministic": "not config.training", "generator": "torch.default_generator",
}  # fmt: skip


def with_scale(place: Place, text: "FunctionText", one: Request) -> "FunctionText":
    """Return the text with an argument for the scale, where one does what it should."""
    slot = next((p for p in parameters(place.thing) if "scale" in meanings(p.name, INPUTS)), None)
    if slot is None or isinstance(slot.default, bool):
        return text
    candidate = text.but(scale="config.scale", form=_including(text.form, slot, "scale"))
    certificate = Certificate(COMPONENT, [replace(one, config=AttentionConfig(scale=0.3))])
    given = certificate.replies(candidate.implementation(place))
    return candidate if certificate.agrees(given, candidate.conventions()) else text


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
