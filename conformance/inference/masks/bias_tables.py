"""T5's table of biases within attention: the flag by which it is there, and what hides what is later beside it.

T5's layers share one table, which the first of them owns: a flag of the constructor says so. Which buckets it has is
decided by whether the layer is a decoder's, while what is later may be hidden by the mask that the layer is handed.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.texts.attention_parts import BUCKETS
from attnconf.conformance.inference.texts.attention_requests import request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import denies_division
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.proving import holds
from attnconf.conformance.inference.trials.trial import Certificate
from attnconf.conformance.source.signatures import parameters_of

BIAS = r"\b(\w+)=config\.bias\b"
OFFSET = "=config.max_offset"
FARTHEST = 128
SINGLE = 16  # tokens of which none are so far that they share one of 32 one-way buckets
FAR = 31
AS_T5 = "as in T5"
OTHERS = f"the buckets of far tokens are not those of {BUCKETS} buckets and a largest distance of {FARTHEST}"
BOTH_HALVES = "where it is causal, its buckets are those of both directions, so that half of them lie idle"
TWO_WAYS = "where it is causal, it is not attention with one-way buckets that sees nothing later"
DIVIDED = "its words say that scores are not divided, and they are divided by √D"


def is_biased(text: AttentionText) -> bool:
    """Return whether a table of biases is inside."""
    return text.inside.get("positions-inside") == "relative-bias"


def is_undivided(text: AttentionText) -> bool:
    """Return whether its scores are not divided by √D."""
    return any("* config.head_dim**-0.5" in entry for entry in text.state)


# -- the flag by which there is a table


def with_table(place: Place, made: Construction, config: Any) -> Iterator[Construction]:
    """Yield the construction with a table of biases, where a flag that is off adds one; then as it is."""
    there: dict[str, tuple[int, ...]] | None = None
    for name in _off(place, made):
        there = _shapes(place, made, config) if there is None else there
        turned = _giving(place, made, name)
        added = [shape for n, shape in _shapes(place, turned, config).items() if n not in there]
        if there and [sorted(shape) for shape in added] == [sorted((BUCKETS, config.num_heads))]:
            yield turned
    yield made


def _off(place: Place, made: Construction) -> list[str]:
    """Return the flags of a class that are off by default, and that a construction does not give."""
    if not isinstance(place.thing, type) or not made.text.startswith(f"{place.name_in_text}("):
        return []
    off = [p.name for p in parameters_of(place.thing) if p.default is False]
    return [name for name in off if not re.search(rf"\b{name}=", made.text)]


def _giving(place: Place, made: Construction, name: str) -> Construction:
    """Return the construction with a flag on, behind the other arguments."""
    comma = "" if made.text == f"{place.name_in_text}()" else ", "
    return replace(made, text=f"{made.text[:-1]}{comma}{name}=True)")


def _shapes(place: Place, made: Construction, config: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of what is built; none where it cannot be built."""
    try:
        module = attempt(partial(run, made, space_for(config, place.module)))
    except Failed:
        return {}
    every = module.named_parameters() if isinstance(module, nn.Module) else ()
    return {name: tuple(p.shape) for name, p in every if not isinstance(p, nn.parameter.UninitializedParameter)}


def with_own_sizes(text: AttentionText) -> AttentionText:
    """Return the text in which the table has its largest distance, and is there where a flag for a bias says so.

    What is called the largest distance is not that of vectors of offsets then, and a flag is no projections' where
    these have no biases.
    """
    if not is_biased(text):
        return text
    written, given = text.made.text, text.made.given
    if OFFSET in written:
        written, given = written.replace(OFFSET, f"={FARTHEST}"), given - {"max_offset"} | {"distance"}
    if {f"{n}.bias" for n in ("q", "k", "v", "out")} <= set(text.lacking) and re.search(BIAS, written):
        written, given = re.sub(BIAS, r"\1=True", written), given - {"bias"}
    return text.but(made=replace(text.made, text=written, given=given))


# -- what no requirement sees


def with_one_way(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text whose mask hides what is later, where a flag says no more than which buckets there are.

    What is right where it is not causal is asked for its buckets where it is, and for those of far tokens.
    """
    if not is_biased(text):
        return text
    if not is_undivided(text) and denies_division(place.thing):
        text = text.but(unknown=(*text.unknown, DIVIDED))
    if is_unlike(place, text, _calls(text, sizes, FAR)):
        given = "distance" in text.made.given
        text = text.but(unknown=(*text.unknown, OTHERS)) if given else text.but(left_alone=(OTHERS, *text.left_alone))
    if not text.flagged or holds(place, text, _calls(text, sizes, SINGLE, causal=True)):
        return text
    beside = text.but(mask_beside=True)
    general = any(not mask.keys_only for mask in text.masks.values())
    if general and holds(place, beside, _calls(beside, sizes, SINGLE, causal=True)):
        words = f"where it is causal its buckets are one-way, and the mask hides what is later, {AS_T5}"
        return beside.but(left_alone=(words, *text.left_alone))
    return _not_one_way(place, text, sizes)


def _not_one_way(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with a word on causal calls that come back and are not right.

    T5's are broken where they are right but for their buckets, which are those of both directions.
    """
    asked = _calls(text, sizes, SINGLE, causal=True)
    if not is_unlike(place, text, asked):
        return text
    given = Certificate(text.component, asked).replies(text.implementation(place))
    hidden = [_hiding_by_mask(one) for one in _calls(text, sizes, SINGLE)]
    both_ways = Certificate(text.component, hidden).agrees(given, text.but(masks={}).conventions())
    if both_ways and is_undivided(text):
        return text.but(idle=(*text.idle, BOTH_HALVES))
    return text.but(unknown=(*text.unknown, TWO_WAYS))


def _hiding_by_mask(asked: Request) -> Request:
    """Return the call with a mask that hides what is later."""
    L = asked.inputs["query"].shape[1]
    return replace(asked, inputs={**asked.inputs, "attn_mask": torch.ones(L, L, dtype=torch.bool).tril()})


def _calls(text: AttentionText, sizes: Any, tokens: int, causal: bool = False) -> list[Request]:
    return [
        request(text, size, 2, L, L, {}, causal=causal) for size, L in zip(sizes, (tokens, tokens - 1), strict=True)
    ]


def is_unlike(place: Place, text: AttentionText, asked: list[Request]) -> bool:
    """Return whether calls come back, and do not give what the textbook does."""
    certificate = Certificate(text.component, asked)
    given = certificate.replies(text.implementation(place))
    return not (any(isinstance(one, Failure) for one in given) or certificate.agrees(given, text.conventions()))
