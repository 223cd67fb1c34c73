"""Checks of the chapter spec/multi_head_attention.md: the biases."""

import torch

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import Evidence
from attnconf.conformance.chapters.multi_head_attention.stimuli import (
    BIAS,
    BIASES,
    as_declared,
    draw_layer,
    layer_for,
    run,
    without_bias,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("MHA-BIAS-1", stimuli.LAYERS)
def a_bias_is_a_shift_of_the_input(subject: Subject, case: Case) -> Evidence:
    """x + c with bias b is x with bias b + W c."""
    layer = as_declared(subject, draw_layer(case), case)
    layer = layer.with_weights({n: 0 * w for n, w in layer.weights.items() if n == "gate.weight"})  # made of the query
    for name in ("query", "value"):
        x, weight, bias = layer.inputs[name], f"{name[0]}.weight", f"{name[0]}.bias"
        shift = case.draw(f"shift of {name}", x.shape[2])
        got = run(subject, layer.with_inputs(**{name: x + shift})).out
        want = run(subject, layer.with_weights({bias: layer.weights[bias] + layer.weights[weight] @ shift})).out
        yield close(got, want, f"out with {name} + c, against {bias} + {weight} c,")


@requirement("MHA-BIAS-2", stimuli.LAYERS)
def the_output_bias_is_added_once(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    shift = case.draw("shift of out", case.embed)
    got = run(subject, layer.with_weights({"out.bias": layer.weights["out.bias"] + shift})).out
    yield close(got, run(subject, layer).out + shift, "out with out.bias + c, against out + c,")


@requirement("MHA-BIAS-3", stimuli.LAYER)
def no_bias_is_a_bias_of_zero(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    zeros = {name: torch.zeros_like(w) for name, w in layer.weights.items() if name in BIASES}
    want = run(subject, layer.with_weights(zeros)).out
    yield close(run(subject, without_bias(layer)).out, want, "out with bias=False, against zero biases,")


@requirement("MHA-KBIAS-1", stimuli.LAYERS)
def the_key_bias_has_no_effect(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    other = BIAS * case.draw("other k.bias", case.embed)
    yield close(
        run(subject, layer.with_weights({"k.bias": other})).out, run(subject, layer).out, "out with another k.bias"
    )
