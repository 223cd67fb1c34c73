"""What is counted: one call of each component, as large as a case says, and the FLOPs that it needs.

In a case B is the batch, H heads of E features each, L queries, S keys, F the width of values or the hidden width; a
layer is drawn from the same case in the names of its own chapter.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import (
    AlibiAttentionConfig,
    AttentionConfig,
    FeedForwardConfig,
    LayerNormConfig,
    LearnedConfig,
    RelativeBiasAttentionConfig,
    RmsNormConfig,
    RotaryAttentionConfig,
    RotaryConfig,
    SinusoidalConfig,
)
from attnconf.conformance.chapters.encoder.stimuli import SHAPE as LAYERS
from attnconf.conformance.chapters.feed_forward.stimuli import SHAPE as NETWORK
from attnconf.conformance.chapters.multi_head_attention.stimuli import SHAPE as PROJECTED
from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.norms import eps_of, shifted
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.counter import Counts
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape(
    "B H L E F S",
    "{B} samples, {H} heads of {E}, {L} tokens (beside {S} keys where those may differ)",
    products={"width": "H E"},
    multiples={"E": 2},
    heads="H",
    model="width",
    hidden="F",
    keys="E",
    values="F",
)


USUAL = (SHAPE.case("throughput-1", B=2, H=3, L=5, E=4, F=11, S=7, dtype=torch.float32, fixed=True),)
# memory is that of what is as long as the sequence, or as long and as wide
LONG = (SHAPE.case("throughput-long-1", B=1, H=2, L=59, E=16, F=11, S=67, dtype=torch.float32, fixed=True),)


BUCKETS = 32


# A call, and the FLOPs of its products of matrices: 2 for a multiplication and an addition.
Workload = tuple[Call, int]


def workload(subject: Subject, case: Case) -> Workload:
    """Return the call of a case as the subject is declared to take it, and the FLOPs that it needs."""
    return _WORKLOADS[subject.component](subject, case)


def count(subject: Subject, case: Case, gradients: bool) -> Counts:
    """Return what a call costs that is not the first: one of two queries and three keys has gone before.

    With gradients, of everything that has one; else no graph is kept. Raises Failure, and Unsupported where the call
    raises an error: what such a call costs is not known, and that it fails is for other chapters to say.
    """
    asked, short = (workload(subject, c)[0] for c in (case, case.but(L=2, S=3)))
    floats = [n for n, x in {**asked.weights, **asked.inputs}.items() if x.is_floating_point()]
    options: dict[str, Any] = {"mode": "no_grad"}
    if gradients:
        options = {"cotangent": case.draw("cotangent", *asked.out_shape), "wrt": tuple(floats)}
    try:
        reply = subject.call(asked.asked(before=(short.inputs,), counted=True, **options))
    except Failure as failure:
        if failure.reason == "raised":
            raise Unsupported(f"{case.L} tokens: {failure.message}") from None
        raise
    assert reply.counts is not None  # it was counted
    return reply.counts


# -- attention


def _attention_flops(case: Case, keys: int, width: int) -> int:
    """Return 2·B·H·L·S·(E + F): every query times every key, every weight times every value."""
    return 2 * case.B * case.H * case.L * keys * (case.E + width)


def _attention(subject: Subject, case: Case) -> Workload:
    q = case.draw("q", case.B, case.H, case.L, case.E)
    k = case.draw("k", case.B, case.H, case.S, case.E)
    v = case.draw("v", case.B, case.H, case.S, case.F)
    config = AttentionConfig(causal=blocks.causality(subject))
    inputs = {"query": q, "key": k, "value": v}
    asked = Call(subject.component, config, {}, inputs, (*q.shape[:-1], case.F))
    return asked, _attention_flops(case, case.S, case.F)


def _multi_head(subject: Subject, case: Case) -> Workload:
    layer = layer_for(subject, case.seen_as(PROJECTED, B=case.B, H=case.H, L=case.L, E=case.E, S=case.S))
    query = layer.inputs["query"]
    keys = layer.inputs.get("key", query).shape[1]
    lengths = {"q": case.L, "k": keys, "v": keys, "out": case.L}
    projections = sum(2 * case.B * n * layer.weights[f"{name}.weight"].numel() for name, n in lengths.items())
    flops = projections + _attention_flops(case, keys, case.E)
    return layer, flops


def _with_positions(subject: Subject, case: Case, config: Any, weights: Mapping[str, Tensor]) -> Workload:
    shape = (case.B, case.H, case.L, case.E)
    inputs = {name: case.draw(name, *shape) for name in ("query", "key", "value")}
    return Call(subject.component, config, weights, inputs, shape), _attention_flops(case, case.L, case.E)


def _rotary_attention(subject: Subject, case: Case) -> Workload:
    config = RotaryAttentionConfig(case.H, case.E, max_len=case.L, dtype=case.dtype, device=case.device)
    return _with_positions(subject, case, config, {})


def _alibi_attention(subject: Subject, case: Case) -> Workload:
    return _with_positions(
        subject, case, AlibiAttentionConfig(case.H, case.E, dtype=case.dtype, device=case.device), {}
    )


def _relative_bias_attention(subject: Subject, case: Case) -> Workload:
    table = case.draw("table.weight", BUCKETS, case.H)
    return _with_positions(subject, case, RelativeBiasAttentionConfig(case.H, case.E, BUCKETS), {"table.weight": table})


# -- layers


def _block(case: Case, block: Call, layers: int) -> Workload:
    """Return the call of a stack: in each layer every weight of two axes meets every token, and attention is added."""
    matrices = sum(w.numel() for w in block.weights.values() if w.ndim == 2)
    flops = 2 * case.B * case.L * matrices + layers * _attention_flops(case, case.L, case.E)
    return block, flops


def _layers(case: Case) -> Case:
    return case.seen_as(LAYERS, B=case.B, heads=case.H, L=case.L, head_width=case.E, hidden=case.F)


def _encoder_layer(subject: Subject, case: Case) -> Workload:
    return _block(case, blocks.encoder_layer(subject, _layers(case), blocks.orders(subject)[0]), 1)


def _encoder(subject: Subject, case: Case) -> Workload:
    block = blocks.encoder(subject, _layers(case), blocks.orders(subject)[0], blocks.endings(subject)[0], layers=2)
    return _block(case, block, 2)


def _feed_forward(subject: Subject, case: Case) -> Workload:
    ratio = subject.choice("hidden-ratio")
    hidden = case.F if ratio == "free" else int(ratio) * case.E
    gated, bias = subject.choice("gated") == "yes", subject.choice("layer-bias") == "yes"
    config = FeedForwardConfig(case.E, hidden, subject.choice("activation"), gated, bias)
    network = case.seen_as(NETWORK, B=case.B, L=case.L, width=case.E, hidden=hidden)
    weights = blocks.draw_feed_forward(network, "ff", gated, bias)
    own = {name.removeprefix("ff."): w for name, w in weights.items()}
    matrices = sum(w.numel() for w in own.values() if w.ndim == 2)
    return _each_token(subject, case, config, own, 2 * case.B * case.L * matrices)


# -- token by token


def _each_token(subject: Subject, case: Case, config: Any, weights: Mapping[str, Tensor], flops: int = 0) -> Workload:
    x = case.draw("x", case.B, case.L, case.E)
    return Call(subject.component, config, weights, {"x": x}, tuple(x.shape)), flops


def _layer_norm(subject: Subject, case: Case) -> Workload:
    names = ("weight", "bias") if shifted(subject) else ("weight",)
    config = LayerNormConfig((case.E,), eps_of(subject), bias=shifted(subject))
    return _each_token(subject, case, config, {name: case.draw(name, case.E) for name in names})


def _rms_norm(subject: Subject, case: Case) -> Workload:
    return _each_token(subject, case, RmsNormConfig(case.E, eps_of(subject)), {"weight": case.draw("weight", case.E)})


def _sinusoidal(subject: Subject, case: Case) -> Workload:
    return _each_token(subject, case, SinusoidalConfig(case.E, case.L, dtype=case.dtype, device=case.device), {})


def _learned(subject: Subject, case: Case) -> Workload:
    rows = case.L + int(subject.choice("learned-offset"))
    return _each_token(subject, case, LearnedConfig(case.E, case.L), {"table.weight": case.draw("table", rows, case.E)})


def _rotary(subject: Subject, case: Case) -> Workload:
    x = case.draw("x", case.B, case.H, case.L, case.E)
    config = RotaryConfig(case.E, case.E, max_len=case.L, dtype=case.dtype, device=case.device)
    return Call(subject.component, config, {}, {"x": x}, tuple(x.shape)), 0


_WORKLOADS: dict[str, Callable[[Subject, Case], Workload]] = {
    "attention": _attention,
    "multi_head_attention": _multi_head,
    "rotary_attention": _rotary_attention,
    "alibi_attention": _alibi_attention,
    "relative_bias_attention": _relative_bias_attention,
    "encoder_layer": _encoder_layer,
    "encoder": _encoder,
    "feed_forward": _feed_forward,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "sinusoidal": _sinusoidal,
    "learned": _learned,
    "rotary": _rotary,
}
ATTENDING = frozenset(
    {
        "attention",
        "multi_head_attention",
        "rotary_attention",
        "alibi_attention",
        "relative_bias_attention",
        "encoder_layer",
        "encoder",
    }
)  # what looks at every pair of tokens
