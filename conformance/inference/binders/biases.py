"""Bind what is added to the scores for the sake of positions: ALiBi and T5's bias."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch

from attnconf.adapters.contract import AlibiConfig, RelativeBiasConfig
from attnconf.conformance.chapters.contents import appearances, meanings
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binders.positions import table_states
from attnconf.conformance.inference.drafts.drafts import Choice, Family, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.options.left_out import with_guard_tried
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import Input
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import SIZES

LENGTH = (
    SIZES["max_len"] + r"|n|q_?len|query_?len(gth)?|qlen|lq|i|size|length|L|T|len_?q|n_?query|n_?queries|queries|q|"
    r"n(b|um)?_?(requ[eê]tes|consultas|anfragen|abfragen|domande|perguntas)"
)
KEYS = (
    r"k_?len|key_?len(gth)?|klen|lk|j|s|len_?k|n_?keys?|keys|kv_?len|kv_?length|memory_?len(gth)?|k|"
    r"n(b|um)?_?(cl[eé]s|claves|chiavi|chaves|schluessel|schlüssel)"
)
ONE_LENGTH = "query_length"
LENGTHS: Mapping[str, Input] = {
    "query_length": Input(LENGTH.lower(), (ONE_LENGTH,), optional=True),
    "key_length": Input(KEYS, ("key_length",), optional=True),
}


def one_length(given: frozenset[str]) -> list[str]:
    return [] if "key_length" in given else refuse("query_length != key_length", "queries that are not the keys")


# -- ALiBi

POWERS = "heads that are no power of two"
SLOPES = "penalties({r}, query_length, key_length).to(config.device)"
ALIBI_TABLE = appearances()["alibi"].sizes
SCORES = "torch.zeros(1, config.num_heads, query_length, key_length, dtype=config.dtype, device=config.device)"
ALIBI_INPUTS: Mapping[str, Input] = {
    **LENGTHS,
    "heads": Input(SIZES["heads"], ("config.num_heads",), optional=True),
    "scores": Input(
        r"x|.*scores?|att.*|logits|sim.*|dots|weights|qk.*|energy|inputs?|a|s|.*mask|tensor",
        (
            SCORES,
            "torch.zeros(1, query_length, 3, dtype=config.dtype, device=config.device)",
            "torch.ones(1, key_length, device=config.device)",
        ),
    ),
    "causal": Input(SIZES["causal"], ("config.causal",), free=False, optional=True),
    "device": Input("device", ("config.device",), free=False, optional=True),
    "dtype": Input("dtype", ("config.dtype",), free=False),
}


def alibi_readers(raw: Any, request: Request) -> list[str]:
    H, L, S = request.out_shape
    if isinstance(raw, list | tuple) and len(raw) == H and all(isinstance(x, int | float) for x in raw):
        return [SLOPES.format(r="result")]
    found = []
    for text, array in tensors_in(raw):
        shape = tuple(array.shape)
        whole = "expand(config.num_heads, query_length, key_length)"
        if shape in ((H, L, S), (H, 1, S)):
            found.append(text if shape == (H, L, S) else f"{text}.{whole}")
        elif len(shape) == 4 and shape[0] == 1 and shape[1:] in ((H, L, S), (H, 1, S)):
            found.append(f"{text}[0]" if shape[2] == L else f"{text}[0].{whole}")
        elif shape == (L, S, H):
            found.append(f"{text}.permute(2, 0, 1)")
        elif array.numel() == H:
            found.append(SLOPES.format(r=text))
        elif len(shape) == 3 and shape[0] == H and shape[1] == shape[2] > L:
            found.append(f"{text}[:, :query_length, :key_length]")
    return found


def alibi_requests(one_way: bool, powers: bool, fixed: Choice, way: str) -> list[Request]:
    """Return calls for numbers of heads that are powers of two and that are not, causal and not."""
    found = []
    for heads, length in ((4, 7), (8, 9), (16, 6), (6, 5), (12, 7))[: 3 if powers else 5]:
        for causal in (True,) if one_way else (True, False):
            config = AlibiConfig(heads, causal, torch.float64)
            asked = {"query_length": length, "key_length": length}
            found.append(Request("alibi", config, {}, asked, (heads, length, length)))
    return found


def alibi_refusals(given: frozenset[str], one_way: bool, powers: bool) -> list[str]:
    lines = refuse("not config.causal", "a bias without causality") if one_way else []
    if powers:
        lines += refuse("config.num_heads & (config.num_heads - 1)", POWERS)
    return lines


def alibi_families(powers: bool) -> Iterator[Family]:
    """Yield the families of a bias in both directions, and of the causal one alone; for powers of two, or any heads."""
    for one_way in (False, True):
        yield Family(
            "alibi", ALIBI_TABLE, ALIBI_INPUTS, alibi_readers, partial(alibi_requests, one_way, powers),
            partial(alibi_refusals, one_way=one_way, powers=powers), one_length, view=meanings()["alibi"],
            ways=(f"{one_way} {powers}",),
        )  # fmt: skip


def alibi(place: Place) -> Bound | Refusal:
    """Return the binding of ALiBi for any number of heads; for powers of two where others raise an exception."""
    outcome = seek(place, *alibi_families(powers=False))
    return outcome if isinstance(outcome, Bound) else _other_heads(seek(place, *alibi_families(powers=True)))


def _other_heads(outcome: Bound | Refusal) -> Bound | Refusal:
    """Return the binding for powers of two such that other heads fail, unless the code refuses them in words."""
    if isinstance(outcome, Refusal):
        return outcome
    asked = Request("alibi", AlibiConfig(6, True, torch.float64), {}, {"query_length": 5, "key_length": 5}, (6, 5, 5))
    return with_guard_tried(outcome, POWERS, asked, "6 heads, which are no power of two")


# -- T5's bias

T5_TABLE = appearances()["relative_bias"].sizes
T5_ONE = {name: texts for name, texts in T5_TABLE.items() if name not in ("bidirectional", "causal")}
OFFSETS = "torch.arange(key_length)[None] - torch.arange(query_length)[:, None]"
T5_INPUTS: Mapping[str, Input] = {
    **LENGTHS,
    "offsets": Input(r"rel.*|offsets?|.*distance|.*position.*|diff.*", (OFFSETS,)),
    "table": Input(r"table|.*weights?|emb.*|bias.*", ('weights["table.weight"]',), free=False),
    "scores": Input(
        r"x|.*scores?|att.*|logits|sim.*|dots|qk.*|inputs?|.*mask|tensor",
        (
            'weights["table.weight"].new_zeros(1, config.num_heads, query_length, key_length)',
            'weights["table.weight"].new_zeros(1, query_length, 3)',
        ),
        free=False,
    ),
    "buckets": Input(SIZES["buckets"], ("config.num_buckets",), free=False, optional=True),
    "distance": Input(SIZES["distance"] + "|far|dmax", ("config.max_distance",), free=False, optional=True),
    "bidirectional": Input(
        SIZES["bidirectional"] + "|both(_?ways|_?sides)?", ("config.bidirectional",), free=False, optional=True
    ),
    "one_way": Input(SIZES["causal"], ("not config.bidirectional",), free=False, optional=True),
    "heads": Input(SIZES["heads"], ("config.num_heads",), free=False, optional=True),
    "device": Input("device", ('weights["table.weight"].device',), free=False, optional=True),
}


def t5_readers(raw: Any, request: Request) -> list[str]:
    H, L, S = request.out_shape
    shapes = {
        (H, L, S): "{r}", (1, H, L, S): "{r}[0]", (L, S, H): "{r}.permute(2, 0, 1)",
        (1, L, S, H): "{r}[0].permute(2, 0, 1)",
    }  # fmt: skip
    found = []
    for text, array in tensors_in(raw):
        if tuple(array.shape) in shapes and array.is_floating_point():
            found.append(shapes[tuple(array.shape)].format(r=text))
        elif tuple(array.shape) == (L, S) and not array.is_floating_point():  # buckets
            found.append(f'weights["table.weight"][{text}].permute(2, 0, 1)')
    return found


def t5_requests(fixed: Choice, way: str) -> list[Request]:
    """Return calls in the directions that ``way`` names, long enough to reach the last buckets."""
    found = []
    for heads, length in ((3, 7), (5, 9), (2, 150)):
        for both in {"both": (True, False), "two": (True,), "one": (False,)}[way]:
            config = RelativeBiasConfig(heads, bidirectional=both)
            weights = {"table.weight": drawn(f"buckets {heads}", 32, heads)}
            asked = {"query_length": length, "key_length": length}
            found.append(Request("relative_bias", config, weights, asked, (heads, length, length)))
    return found


def t5_refusals(given: frozenset[str], way: str) -> list[str]:
    lines = [] if "buckets" in given else refuse("config.num_buckets != 32", "another number of buckets")
    if "distance" not in given:
        lines += refuse("config.max_distance != 128", "another largest distance")
    if way == "both":
        return lines
    other = "not config.bidirectional" if way == "two" else "config.bidirectional"
    return lines + refuse(other, "buckets of the other kind of direction")


def relative_bias(place: Place) -> Bound | Refusal:
    """Return the binding of T5's bias, in both kinds of direction or in the one that there is."""
    return seek(
        place,
        *(
            Family(
                "relative_bias", T5_TABLE if way == "both" else T5_ONE, T5_INPUTS, t5_readers, t5_requests,
                partial(t5_refusals, way=way), one_length, table_states, ways=(way,),
                unless=frozenset(() if way == "both" else ("bidirectional", "causal", "one_way")),
            )
            for way in ("both", "two", "one")
        ),
    )  # fmt: skip


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a bias on the scores."""
    return relative_bias(place) if place.component == "relative_bias" else alibi(place)
