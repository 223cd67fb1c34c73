"""Checks of the chapter spec/multi_head_attention.md: the heads."""

import math
from contextlib import suppress

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import Evidence
from attnconf.conformance.chapters.multi_head_attention.stimuli import draw_layer, layer_for, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Unsupported, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def features_moved(layer: Call, case: Case, names: str, per_head: bool) -> dict[str, Tensor]:
    """Return rows of the named projections permuted within each head, differently in every head or alike in all."""
    orders = [case.permutation(f"features {h * per_head}", case.E) + h * case.E for h in range(case.H)]
    return rows_moved(layer, torch.cat(orders), names)


def rows_moved(layer: Call, order: Tensor, names: str) -> dict[str, Tensor]:
    """Return weights and biases of the projections q, k, v with their rows in another order."""
    moved = {name: w[order] for name, w in layer.weights.items() if name[0] in names and name[0] != "o"}
    if "v" in names:
        moved["out.weight"] = layer.weights["out.weight"][:, order]
    return moved


def without_key_bias(layer: Call) -> Call:
    """Return the layer with a k.bias of zero: what that does wrong is another requirement's business."""
    return layer.with_weights({name: torch.zeros_like(w) for name, w in layer.weights.items() if name == "k.bias"})


@requirement("MHA-HEADS-1", stimuli.LAYERS)
def features_of_a_head_meet_within_it(subject: Subject, case: Case) -> Evidence:
    """q·k of a head does not change when the features of q and k are permuted alike in that head."""
    layer = without_key_bias(layer_for(subject, case))
    got = run(subject, layer.with_weights(features_moved(layer, case, "qk", per_head=True))).out
    yield close(got, run(subject, layer).out, "out when the rows of q and k are permuted alike within each head")


@requirement("MHA-MERGE-1", stimuli.LAYERS)
def heads_come_out_where_they_went_in(subject: Subject, case: Case) -> Evidence:
    layer = without_key_bias(layer_for(subject, case))
    features = torch.arange(case.embed, device=case.device).view(case.H, case.E)
    heads = features[case.permutation("heads", case.H)].flatten()
    want = run(subject, layer).out
    within = run(subject, layer.with_weights(features_moved(layer, case, "v", per_head=False))).out
    yield close(within, want, "out when rows of v and columns of out are permuted alike within every head")
    whole = run(subject, layer.with_weights(rows_moved(layer, heads, "qkv"))).out
    yield close(whole, want, "out when whole heads are permuted in q, k, v and the columns of out alike")


@requirement("MHA-SINGLE-1", stimuli.LAYERS)
def one_key_hands_its_value_through_both_projections(subject: Subject, case: Case) -> Evidence:
    layer = draw_layer(case)
    key, value = layer.inputs["key"][:, :1], layer.inputs["value"][:, :1]
    w = layer.weights
    want = (value @ w["v.weight"].T + w.get("v.bias", 0)) @ w["out.weight"].T + w.get("out.bias", 0)
    out = run(subject, layer.with_inputs(key=key, value=value)).out
    yield close(out, want.expand_as(out), "out with one key, against W_o(W_v x + b_v) + b_o,")


def alike(subject: Subject, case: Case, heads: int) -> Call:
    """Return a layer in which all heads have the same scores, whatever their number: a few features, the rest zero."""
    layer, width = without_key_bias(layer_for(subject, case)), case.H * case.E // heads
    n = min(case.E, 5, width)
    rows = {}
    for name, size in (("q", math.sqrt(width / n)), ("k", 1.0)):
        for part in ("weight", "bias"):
            if f"{name}.{part}" not in layer.weights:
                continue
            whole = layer.weights[f"{name}.{part}"]
            one = torch.zeros_like(whole[:width])
            one[:n] = whole[:n] * size
            rows[f"{name}.{part}"] = torch.cat([one] * heads)
    return layer.with_weights(rows).with_config(num_heads=heads, head_dim=width)


@requirement("MHA-ONE-1", stimuli.LAYER)
def one_head_is_as_good_as_several_alike(subject: Subject, case: Case) -> Evidence:
    """Without a projection where one head is as wide as the model, both get the identity there; else it is needed."""
    if not case.one_projected:
        width = case.embed + case.H
        with suppress(Unsupported):  # of what divides the width of the model among its heads
            narrower = case.but(embed=width, key_dim=width, value_dim=width)
            yield from _one_against_several(subject, narrower, " narrower than the model")
    yield from _one_against_several(subject, case.but(projected=case.projected and case.one_projected), "")


def _one_against_several(subject: Subject, case: Case, which: str) -> Evidence:
    want = run(subject, alike(subject, case, case.H)).out
    yield close(run(subject, alike(subject, case, 1)).out, want, f"out of 1 head{which}, against {case.H},")


@requirement("MHA-MANY-1", stimuli.MANY_HEADS)
def many_heads_alike_are_as_good_as_few(subject: Subject, case: Case) -> Evidence:
    few = next(n for n in (3, 2, 1) if case.embed % n == 0)
    want = run(subject, alike(subject, case, few)).out
    yield close(run(subject, alike(subject, case, case.H)).out, want, f"out of {case.H} heads, against {few},")
