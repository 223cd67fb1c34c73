"""Checks of the chapter spec/multi_head_attention.md: sizes."""

import torch

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import Evidence, out_rows
from attnconf.conformance.chapters.multi_head_attention.stimuli import draw_layer, layer_for, own_weights, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

WIDTHS = {"query": "embed_dim", "key": "key_dim", "value": "value_dim"}


@requirement("MHA-DIVIDE-1", stimuli.LAYER)
def heads_that_do_not_divide_the_width_are_refused(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    for heads in [n for n in range(2, case.embed) if case.embed % n][:2]:
        uneven = layer.with_config(num_heads=heads, head_dim=case.embed // heads)
        yield refuses(subject, uneven, f"{heads} heads for a width of {case.embed}")


@requirement("MHA-ERROR-1", stimuli.LAYER)
def weights_that_do_not_fit_are_refused(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    for name, fitting in own_weights(subject, layer, case).items():
        if name == "k.bias":
            continue  # whoever leaves it out is right (MHA-KBIAS-1), and does not look at its size
        wider = torch.cat([fitting, fitting[..., :2]], dim=-1)
        yield refuses(subject, layer.with_weights({name: wider}), f"{name} of shape {tuple(wider.shape)}")


def refuses(subject: Subject, layer: Call, what: str) -> Measure:
    """Return a measure if the subject raises an exception for this layer."""
    try:
        run(subject, layer)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


def padded(case: Case, layer: Call, name: str, columns: int) -> Call:
    """Return the layer with ``columns`` zeros before the features of one input, and arbitrary weights for them."""
    weight, x = f"{name[0]}.weight", layer.inputs[name]
    more = case.draw(f"more of {weight}", layer.weights[weight].shape[0], columns)
    zeros = x.new_zeros(*x.shape[:2], columns)
    wide = layer.with_weights({weight: torch.cat([more, layer.weights[weight]], dim=1)})
    return wide.with_inputs(**{name: torch.cat([zeros, x], dim=2)}).with_config(**{WIDTHS[name]: columns + x.shape[2]})


def narrowed(layer: Call, name: str, columns: int) -> Call:
    """Return the layer without the first features of one input, and without the weights for them."""
    weight, x = f"{name[0]}.weight", layer.inputs[name][..., columns:]
    narrow = layer.with_weights({weight: layer.weights[weight][:, columns:]})
    return narrow.with_inputs(**{name: x}).with_config(**{WIDTHS[name]: x.shape[2]})


def zeroed(layer: Call, name: str, columns: int) -> Call:
    """Return the layer with the first features of one input zero."""
    x = layer.inputs[name].clone()
    x[..., :columns] = 0
    return layer.with_inputs(**{name: x})


@requirement("MHA-WIDTH-1", stimuli.LAYER)
def keys_and_values_may_be_wider_or_narrower(subject: Subject, case: Case) -> Evidence:
    """Features that are zero may as well not be there, and the other way round."""
    layer = draw_layer(case)
    for wide, narrow in (("key", "value"), ("value", "key")):
        want = run(subject, zeroed(layer, narrow, 8)).out
        got = run(subject, narrowed(padded(case, layer, wide, 4), narrow, 8)).out
        yield close(got, want, f"out with 4 zeros more in {wide} and 8 less in {narrow}")


@requirement("MHA-WIDTH-2", stimuli.LAYER)
def the_model_may_be_wider_or_narrower_than_its_heads(subject: Subject, case: Case) -> Evidence:
    layer = draw_layer(case)
    want = run(subject, layer).out
    yield close(run(subject, padded(case, layer, "query", 4)).out, want, "out with 4 zeros more in query")
    narrow = run(subject, narrowed(layer, "query", 8)).out
    yield close(narrow, run(subject, zeroed(layer, "query", 8)).out, "out with 8 zeros less in query")
    for out_dim in (case.embed - 8, case.embed + 4):
        rows = torch.arange(out_dim) % case.embed
        some = layer.with_weights(out_rows(layer, rows))
        got = run(subject, some.with_config(out_dim=out_dim)).out
        yield close(got, want[..., rows], f"out with {out_dim} rows in out.weight")
