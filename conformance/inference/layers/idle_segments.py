"""Segments of a model whose embedding is set aside: which token is of which has to make a difference."""

import re
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import SEGMENTS, call_of, parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import unread
from attnconf.conformance.inference.trials.trial import drawn, same_numbers
from attnconf.conformance.inference.words.vocabulary import snake

SAMPLES, TOKENS = 2, 6


def idle_segments(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on an argument for segments that changes nothing, of a model that is asked behind its embedding.

    What is never read is said elsewhere.
    """
    inner, said = handed_text(text.made.text), unread(call_of(place.thing))
    names = [
        p.name
        for p in parameters(place.thing)
        if p.default is None and re.fullmatch(SEGMENTS, snake(p.name)) and p.name not in {*text.masks, *said}
    ]
    wanted = [slot.name for slot in text.form.slots if slot.required]
    if not inner or len(names) != 1 or len(wanted) != 1:
        return ()
    made = Construction(inner, text.made.before)
    try:
        idle = attempt(partial(_changes_nothing, place, made, config, wanted[0], names[0]))
    except Failed:
        return ()
    return (f"the argument `{names[0]}` of forward {IDLE}",) if idle else ()


def _changes_nothing(place: Place, made: Construction, config: Any, ids: str, segments: str) -> bool:
    """Return whether all tokens come out alike in one segment and in two, whatever the tables hold."""
    module = run(made, space_for(config, place.module)).double().eval()
    for name, table in module.named_parameters():
        table.data = drawn(name, *table.shape)
    tokens = torch.arange(SAMPLES * TOKENS).reshape(SAMPLES, TOKENS) % 4 + 1
    two = (torch.arange(TOKENS) >= TOKENS // 2).long().expand(SAMPLES, -1)
    one, other = (_output(module, {ids: tokens, segments: which}) for which in (torch.zeros_like(two), two))
    return same_numbers(one, other)


def _output(module: nn.Module, given: dict[str, Tensor]) -> Tensor:
    with torch.no_grad():
        returned = module(**given)
    return next(x for x in tree_leaves(returned) if isinstance(x, Tensor) and x.is_floating_point())
