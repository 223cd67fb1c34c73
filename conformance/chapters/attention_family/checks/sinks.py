"""Checks of the chapter spec/attention_family.md: sinks beside the scores, and the gate on the heads."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention_family.checks.shared import Evidence, having, kinds
from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.stimuli import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

# zeros: equal scores, values as they are, and a gate half open
NEUTRAL = ("q_norm.bias", "relative.weight", "relative_keys.weight", "relative_values.weight", "gate.weight")


def showing_heads(layer: Call) -> Call:
    """Return the layer whose output is its heads side by side: the output projection is the identity."""
    out = layer.weights["out.weight"]
    found = {"out.weight": torch.eye(len(out), dtype=out.dtype, device=out.device)}
    found |= {"out.bias": 0 * layer.weights["out.bias"]} if "out.bias" in layer.weights else {}
    return layer.with_weights(found)


def kept(subject: Subject, layer: Call) -> Tensor:
    """Return what the sinks leave of the weights of each query, (B, L, H): with equal scores, and all values 1."""
    zeros = {name: 0 * w for name, w in layer.weights.items() if name[:2] in ("q.", "v.") or name in NEUTRAL}
    ones = layer.with_weights({**zeros, **values_of_one(layer)})
    open_by = 1.0 if layer.config.gate == "none" else 0.5
    return run(subject, showing_heads(ones)).out.unflatten(-1, (layer.config.num_heads, -1)).mean(-1) / open_by


def values_of_one(layer: Call) -> dict[str, Tensor]:
    """Return a value projection that gives 1 whatever the token is; tokens have a feature of 1 for it."""
    weight = torch.zeros_like(layer.weights["v.weight"])
    weight[:, 0] = 1.0
    return {"v.weight": weight}


def with_ones(layer: Call) -> Call:
    """Return the layer on tokens whose first feature is 1."""
    inputs = {}
    for name, x in layer.inputs.items():
        inputs[name] = torch.cat([torch.ones_like(x[..., :1]), x[..., 1:]], dim=-1)
    return layer.with_inputs(**inputs)


def sunk(subject: Subject, case: Case, kind: str) -> tuple[Call, Tensor]:
    """Return a layer with sinks, and their logits."""
    layer = with_ones(having(subject, case, sinks=kind))
    return layer, layer.weights.get("sinks", torch.zeros(case.H, dtype=case.dtype))


def seen(layer: Call) -> Tensor:
    """Return how many keys each query sees, (L, 1)."""
    queries = layer.inputs["query"].shape[1]
    keys = layer.inputs.get("key", layer.inputs["query"]).shape[1]
    return (torch.arange(1, queries + 1) if layer.config.causal else torch.full((queries,), keys))[:, None]


@requirement("FAM-SINK-1", stimuli.LAYER)
def what_the_sink_takes_the_keys_lack(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "sinks"):
        layer, logits = sunk(subject, case, kind)
        alike = logits.mean().expand_as(logits) if kind == "learned" else logits
        layer = layer.with_weights({"sinks": alike.clone()} if kind == "learned" else {})
        keys = seen(layer).to(alike)
        want = keys / (keys + alike.exp())
        got = kept(subject, layer)
        yield close(
            got, want.expand_as(got).to(got), f"out with q = 0 and V = 1 beside a sink ({kind}), against S / (S + e^z),"
        )


@requirement("FAM-SINK-2", stimuli.LAYER)
def each_head_has_its_own_sink(subject: Subject, case: Case) -> Evidence:
    layer, logits = sunk(subject, case, "learned")
    keys, got = seen(layer).to(logits), kept(subject, layer)
    want = (keys / (keys + logits.exp())).expand_as(got).to(got)
    yield close(got, want, "out with q = 0 and V = 1 beside a sink for each head, against S / (S + e^z_h),")


@requirement("FAM-GATE-1", stimuli.LAYER)
def heads_are_multiplied_by_the_sigmoid(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "output-gate"):
        layer = showing_heads(having(subject, case, gate=kind))
        weight = layer.weights["gate.weight"]
        ungated = 2 * run(subject, layer.with_weights({"gate.weight": 0 * weight})).out
        gate = torch.sigmoid(layer.inputs["query"] @ weight.T)
        if kind == "heads":
            gate = gate.repeat_interleave(case.E, dim=-1)
        yield close(
            run(subject, layer).out, ungated * gate, f"out, against twice out(W_g = 0) times the sigmoid ({kind})"
        )
