"""Checks of the chapter spec/multi_head_attention.md: the projections."""

import torch

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import Evidence, out_rows
from attnconf.conformance.chapters.multi_head_attention.stimuli import (
    as_declared,
    draw_layer,
    layer_for,
    own_weights,
    run,
)
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def turned(subject: Subject, case: Case, name: str) -> Measure:
    """Return the measure if permuting (and negating) features and the weight's columns alike changes nothing."""
    layer, weight = as_declared(subject, draw_layer(case), case), f"{name[0]}.weight"
    size = case.embed
    turn = torch.diag(torch.sign(case.draw(f"signs of {name}", size)))[case.permutation(name, size)]
    both = layer.with_weights({weight: layer.weights[weight] @ turn.T}).with_inputs(
        **{name: layer.inputs[name] @ turn.T}
    )
    what = f"out when the features of {name} and the columns of {weight} are permuted alike"
    return close(run(subject, both).out, run(subject, layer).out, what)


@requirement("MHA-QUERY-1", stimuli.LAYERS)
def the_query_meets_q_weight_and_nothing_else(subject: Subject, case: Case) -> Evidence:
    yield turned(subject, case, "query")


@requirement("MHA-KEY-1", stimuli.LAYERS)
def the_key_meets_k_weight_and_nothing_else(subject: Subject, case: Case) -> Evidence:
    yield turned(subject, case, "key")


@requirement("MHA-VALUE-1", stimuli.LAYERS)
def the_value_meets_v_weight_and_nothing_else(subject: Subject, case: Case) -> Evidence:
    yield turned(subject, case, "value")


@requirement("MHA-OUT-1", stimuli.LAYERS)
def the_rows_of_out_weight_are_the_features_of_the_output(subject: Subject, case: Case) -> Evidence:
    layer, order = layer_for(subject, case), case.permutation("rows", case.embed)
    moved = layer.with_weights(out_rows(layer, order))
    want = run(subject, layer).out[..., order]
    what = "out with permuted rows of out.weight and out.bias, against permuted out,"
    yield close(run(subject, moved).out, want, what)


@requirement("MHA-DEAD-1", stimuli.LAYER)
def every_weight_has_an_effect(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    want = run(subject, layer).out
    for name, weight in own_weights(subject, layer, case).items():
        if name == "k.bias" or name.partition(".")[0] not in ("q", "k", "v", "out"):
            continue  # MHA-KBIAS-1; what else there is inside has requirements of its own
        for h in range(case.H):
            changed, block = weight.clone(), slice(h * case.E, (h + 1) * case.E)
            where = (..., block) if name == "out.weight" else block
            changed[where] += case.draw(f"step of {name}", *changed[where].shape)
            moved = float((run(subject, layer.with_weights({name: changed})).out - want).abs().max())
            yield holds(moved > evidence.SEMANTIC * float(want.abs().max()), f"{name} of head {h} has no effect")
