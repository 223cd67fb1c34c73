"""Checks of the chapter spec/attention_family.md: positions within attention."""

import math

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention.stimuli import SHAPE as ATTENTION
from attnconf.conformance.chapters.attention_family.checks.shared import Evidence, having, part_of
from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.stimuli import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference import relative_bias

TOKENS = (ATTENTION.case("tokens-1", B=2, H=3, L=6, E=8, F=5, S=6),)


def plain(case: Case, v: Tensor) -> Tensor:
    """Return softmax(q kᵀ / √E) v, in which no key is hidden."""
    scores = torch.einsum("...le,...se->...ls", case.q, case.k) / math.sqrt(case.E)
    return torch.softmax(scores, dim=-1) @ v


def values(case: Case) -> Tensor:
    """Return values as wide as keys."""
    return case.draw("values", case.B, case.H, case.S, case.E)


@requirement("FAM-ROTARY-1", TOKENS)
def scores_are_those_of_turned_queries_and_keys(subject: Subject, case: Case) -> Evidence:
    """Values that are the same number in all features do not show whether they are turned."""
    v = values(case)[..., :1].expand(-1, -1, -1, case.E)
    ones = torch.ones_like(case.k[..., :1])
    got = subject.attend(case.q, case.k, v * ones, inside={"positions-inside": "rotary"}).out
    yield close(got.mean(-1), plain(case, v).mean(-1), "out of tokens that are turned back, against attention as it is")


@requirement("FAM-ROTARY-2", TOKENS)
def values_are_not_turned(subject: Subject, case: Case) -> Evidence:
    v = values(case)
    got = subject.attend(torch.zeros_like(case.q), case.k, v, inside={"positions-inside": "rotary"}).out
    yield close(got, v.mean(2, keepdim=True).expand_as(got), "out with q = 0, against the mean of the values,")


@requirement("FAM-ROTARY-3", stimuli.LAYER)
def the_rest_of_a_head_does_not_turn(subject: Subject, case: Case) -> Evidence:
    """Where the features that turn are 0, keys have no order: the first two may change places."""
    layer = having(subject, case, positions="rotary")
    part = part_of(layer.config.head_dim)
    layer = layer.with_config(rotary_dim=part)
    want, got = _before_and_after(subject, layer)
    moved = float((got - want).abs().max())
    yield holds(moved > 1e-3 * float(want.abs().max()), "the order of keys makes no difference where a part turns")
    want, got = _before_and_after(subject, layer.with_weights(_without_first(layer, part)))
    what = f"out of tokens whose first {part} features in each head are 0, with the first two keys exchanged,"
    yield close(got, want, what)


def _before_and_after(subject: Subject, layer: Call) -> tuple[Tensor, Tensor]:
    """Return the output of all tokens but two, and that where the first two keys have changed places."""
    keys = [name for name in ("key", "value") if name in layer.inputs] or ["query"]
    swapped = {n: torch.cat([x[:, :2].flip(1), x[:, 2:]], dim=1) for n, x in layer.inputs.items() if n in keys}
    return run(subject, layer).out[:, 2:], run(subject, layer.with_inputs(**swapped)).out[:, 2:]


def _without_first(layer: Call, part: int) -> dict[str, Tensor]:
    """Return the weights of queries and keys, and of their norms, with zeros for the first features of each head."""
    names = ("q.", "k.", "q_norm.", "k_norm.")
    found = {name: w.clone() for name, w in layer.weights.items() if name.startswith(names)}
    for w in found.values():
        w.unflatten(0, (-1, layer.config.head_dim))[:, :part] = 0
    return found


@requirement("FAM-SLOPE-1", TOKENS)
def scores_get_the_penalty_of_their_distance(subject: Subject, case: Case) -> Evidence:
    v = values(case)
    got = subject.attend(case.q, case.k, v, inside={"positions-inside": "alibi"}).out
    yield close(got, plain(case, v), "out with the opposite of ALiBi's bias in the keys, against attention as it is,")


@requirement("FAM-RELATIVE-1", stimuli.LAYER)
def scores_get_the_bias_of_their_offset(subject: Subject, case: Case) -> Evidence:
    layer = having(subject, case, positions="relative-bias")
    table, query = layer.weights["relative.weight"], layer.inputs["query"]
    keys = layer.inputs.get("key", query).shape[1]
    both = not layer.config.causal
    bias = relative_bias.bias(table, query.shape[1], keys, bidirectional=both)[None]
    want = run(subject, layer.with_weights({"relative.weight": 0 * table}).with_inputs(attn_bias=bias)).out
    yield close(run(subject, layer).out, want, "out with a table, against the same biases as attn_bias,")
