"""Checks of the chapter spec/multi_head_attention.md. Most change weights and inputs so that nothing may change."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.stimuli import (
    BIAS,
    as_declared,
    draw_layer,
    draw_self,
    layer_for,
    run,
    run_in_torch,
    without_bias,
)
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.boundary import slopes
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

Evidence = Iterator[Measure]
WIDTHS = {"query": "embed_dim", "key": "key_dim", "value": "value_dim"}


# -- sizes


@requirement("MHA-DIVIDE-1", stimuli.LAYER)
def heads_that_do_not_divide_the_width_are_refused(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    for heads in [n for n in range(2, case.embed) if case.embed % n][:2]:
        uneven = layer.with_config(num_heads=heads, head_dim=case.embed // heads)
        yield refuses(subject, uneven, f"{heads} heads for a width of {case.embed}")


@requirement("MHA-ERROR-1", stimuli.LAYER)
def weights_that_do_not_fit_are_refused(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    for name, fitting in layer.weights.items():
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


def out_rows(layer: Call, rows: Tensor) -> dict[str, Tensor]:
    """Return the output projection's weights with these rows."""
    return {name: w[rows] for name, w in layer.weights.items() if name[0] == "o"}


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


# -- the projections


def turned(subject: Subject, case: Case, name: str) -> Measure:
    """Return the measure if permuting (and negating) features and the weight's columns alike changes nothing."""
    layer, weight = draw_layer(case), f"{name[0]}.weight"
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
    for name, weight in layer.weights.items():
        if name == "k.bias":
            continue  # MHA-KBIAS-1
        for h in range(case.H):
            changed, block = weight.clone(), slice(h * case.E, (h + 1) * case.E)
            changed[(..., block) if name == "out.weight" else block] += 1.0
            moved = float((run(subject, layer.with_weights({name: changed})).out - want).abs().max())
            yield holds(moved > evidence.SEMANTIC * float(want.abs().max()), f"{name} of head {h} has no effect")


# -- the biases


@requirement("MHA-BIAS-1", stimuli.LAYERS)
def a_bias_is_a_shift_of_the_input(subject: Subject, case: Case) -> Evidence:
    """x + c with bias b is x with bias b + W c."""
    layer = draw_layer(case)
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
    zeros = {name: torch.zeros_like(w) for name, w in layer.weights.items() if name.endswith(".bias")}
    want = run(subject, layer.with_weights(zeros)).out
    yield close(run(subject, without_bias(layer)).out, want, "out with bias=False, against zero biases,")


@requirement("MHA-KBIAS-1", stimuli.LAYERS)
def the_key_bias_has_no_effect(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    other = BIAS * case.draw("other k.bias", case.embed)
    yield close(
        run(subject, layer.with_weights({"k.bias": other})).out, run(subject, layer).out, "out with another k.bias"
    )


# -- the heads


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
    heads = torch.arange(case.embed).view(case.H, case.E)[case.permutation("heads", case.H)].flatten()
    want = run(subject, layer).out
    features = run(subject, layer.with_weights(features_moved(layer, case, "v", per_head=False))).out
    yield close(features, want, "out when rows of v and columns of out are permuted alike within every head")
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
    layer, width = without_key_bias(layer_for(subject, case)), case.embed // heads
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
    want = run(subject, alike(subject, case, case.H)).out
    yield close(run(subject, alike(subject, case, 1)).out, want, f"out of 1 head, against {case.H},")


@requirement("MHA-MANY-1", stimuli.MANY_HEADS)
def many_heads_alike_are_as_good_as_few(subject: Subject, case: Case) -> Evidence:
    few = next(n for n in (3, 2, 1) if case.embed % n == 0)
    want = run(subject, alike(subject, case, few)).out
    yield close(run(subject, alike(subject, case, case.H)).out, want, f"out of {case.H} heads, against {few},")


# -- self-attention: one object as query, key and value


@requirement("MHA-PERM-1", stimuli.SELF)
def permuting_the_tokens_permutes_the_output(subject: Subject, case: Case) -> Evidence:
    layer, order = draw_self(case), case.permutation("tokens", case.L)
    x, positions = layer.inputs["query"], case.draw("positions", case.L, case.embed)

    def attend(x: Tensor) -> Tensor:
        copies = {"query": x, "key": x, "value": x} if subject.offers("cross") else {"query": x}
        return run(subject, layer.with_inputs(**copies)).out

    want = attend(x)
    yield close(attend(x[:, order]), want[:, order], "out of permuted tokens, against permuted out,")
    moved = float((attend(x[:, order] + positions) - attend(x + positions)[:, order]).abs().max())
    yield holds(moved > 0.01 * float(want.abs().max()), "adding positions to the tokens makes no difference")


@requirement("MHA-SELF-1", stimuli.SELF)
def one_object_is_as_good_as_three_copies(subject: Subject, case: Case) -> Evidence:
    layer = draw_self(case)
    x = layer.inputs["query"]
    want = run(subject, layer.with_inputs(key=x, value=x)).out
    yield close(run(subject, layer).out, want, "out of one tensor as query, key and value, against three copies,")


# training, mode, need_weights
MODES = tuple(product((True, False), ("tracked", "no_grad", "inference_mode"), (False, True)))
# Two paths in float32 differ by rounding; so do gradients that float32 code sums over the whole batch.
SINGLE, SINGLE_SOURCE = 1e-5, "1e-5·max|want|: 80 roundings of float32"


def paths(subject: Subject) -> list[tuple[bool, str, bool]]:
    """Return the ways through a layer, (training, mode, need_weights), that this subject has."""
    return [path for path in MODES if subject.offers("weights") or not path[2]]


def path_name(training: bool, mode: str, need_weights: bool) -> str:
    return f"{'training' if training else 'evaluation'}, {mode}, need_weights={need_weights}"


def real_tokens(case: Case) -> Tensor:
    """Return a key mask (B, S) that leaves at least three tokens of each sample, the padding at the end."""
    lengths = case.S - torch.arange(case.B, device=case.device) % (case.S - 2)
    return torch.arange(case.S, device=case.device) < lengths[:, None]


@requirement("MHA-MODE-1", stimuli.SELF)
def every_path_gives_the_same(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float64, torch.float32):
        c = case.but(dtype=dtype)
        real = real_tokens(c)
        for layer in (draw_self(c), draw_self(c).with_inputs(key_mask=real)):
            want = run(subject, layer).out[real]
            masked = " with key_mask" if "key_mask" in layer.inputs else ""
            for training, mode, need_weights in paths(subject):
                out = run(subject, layer.with_config(training=training), mode=mode, need_weights=need_weights).out[real]
                path = f"{dtype}, {path_name(training, mode, need_weights)}{masked}".removeprefix("torch.")
                yield close(out, want, f"out of real tokens in {path}", bound=SINGLE, source=SINGLE_SOURCE)


@requirement("MHA-PAD-1", stimuli.SELF)
def padding_does_not_reach_real_tokens(subject: Subject, case: Case) -> Evidence:
    real = real_tokens(case)
    layer = draw_self(case).with_inputs(key_mask=real)
    x = layer.inputs["query"]
    other = layer.with_inputs(query=torch.where(real[..., None], x, 3 * case.draw("other padding", *x.shape)))
    for training, mode, need_weights in paths(subject):
        want, got = (
            run(subject, y.with_config(training=training), mode=mode, need_weights=need_weights).out[real]
            for y in (layer, other)
        )
        what = f"out of real tokens with other padding in {path_name(training, mode, need_weights)}"
        yield close(got, want, what)


# -- what else comes back


@requirement("MHA-WEIGHTS-1", stimuli.LAYERS)
def the_returned_weights_are_those_of_the_heads(subject: Subject, case: Case) -> Evidence:
    """Every head gets the same values; the output is the mean of the heads, so the mean weights make it."""
    layer = layer_for(subject, case)
    eye = torch.eye(case.E, dtype=case.dtype, device=case.device)
    row = torch.cat([eye] * case.H, dim=1)
    weights = {name: torch.zeros_like(w) for name, w in layer.weights.items() if name[0] in "vo"}
    weights["v.weight"][:, : case.E] = row.T
    weights["out.weight"][: case.E] = row / case.H
    reply = run(subject, layer.with_weights(weights), need_weights=True)
    assert reply.weights is not None
    mean = reply.weights.double() if reply.weights.ndim == 3 else reply.weights.double().mean(dim=1)
    got = mean @ layer.inputs.get("value", layer.inputs["query"])[..., : case.E]
    yield close(got, reply.out[..., : case.E], "the mean of the returned weights times the values, against out")


@requirement("MHA-GRAD-1", stimuli.LAYER)
def gradients_of_weights_are_the_slopes_of_the_output(subject: Subject, case: Case) -> Evidence:
    layer = layer_for(subject, case)
    cotangent = case.draw("cotangent", case.B, case.L, case.embed)
    grads = run(subject, layer, cotangent=cotangent, wrt=tuple(layer.weights)).grads
    steps = {n: case.draw(f"direction of {n}", *w.shape) / math.sqrt(w[0].numel()) for n, w in layer.weights.items()}
    sizes = {name: float(g.norm() * steps[name].norm()) / math.sqrt(g.numel()) for name, g in grads.items()}
    for name, step in steps.items():

        def along(t: float, name: str = name, step: Tensor = step) -> Tensor:
            return (run(subject, layer.with_weights({name: layer.weights[name] + t * step})).out * cotangent).sum()

        slope = (8 * (along(0.01) - along(-0.01)) - (along(0.02) - along(-0.02))) / 0.12
        yield close(
            (grads[name] * step).sum(), slope, f"the derivative along a direction of {name}, against differences,",
            bound=evidence.DIFFERENCES, source=evidence.DIFFERENCES_SOURCE,
            unit=max(float(slope.abs()), *sizes.values()),
        )  # fmt: skip


# -- everything at once


Formula = Callable[[Call], tuple[Tensor, Tensor]]  # to (output, weights)


def compare_all(subject: Subject, case: Case, layer: Call, formula: Formula) -> Evidence:
    """Yield the measures of output and gradients against those of ``formula``."""
    name = f"{formula.__name__} {layer.config} {sorted(layer.inputs)}"
    cotangent = case.draw("cotangent", *layer.inputs["query"].shape[:2], layer.config.out_dim)
    want, grads = case.once(name, lambda: with_gradients(formula, layer, cotangent))
    reply = run(subject, layer, cotangent=cotangent, wrt=tuple(grads))
    yield close(reply.out, want)
    unit = max(float(g.abs().max()) for g in grads.values())  # that of k.bias is 0
    for name, grad in grads.items():
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


def with_gradients(formula: Formula, layer: Call, cotangent: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the output, and its gradients with respect to all weights and inputs by name."""

    def leaf(x: Tensor) -> Tensor:
        return x.clone().requires_grad_() if x.is_floating_point() else x

    weights, inputs = ({name: leaf(x) for name, x in group.items()} for group in (layer.weights, layer.inputs))
    out, _ = formula(replace(layer, weights=weights, inputs=inputs))
    leaves = {name: x for name, x in {**weights, **inputs}.items() if x.requires_grad}
    grads = slopes([(out, cotangent)], list(leaves.values()))
    return out.detach(), dict(zip(leaves, grads, strict=True))


def reference(layer: Call) -> tuple[Tensor, Tensor]:
    """Return (output, weights) of the reference."""
    query = layer.inputs["query"]
    key, value = layer.inputs.get("key", query), layer.inputs.get("value", query)
    mask = causal(query.shape[1], key.shape[1]).to(query.device) if layer.config.causal else None
    return multi_head_attention(query, key, value, layer.weights, layer.config.num_heads, mask)


@requirement("MHA-ORACLE-1", stimuli.LAYERS, stimuli.WIDTHS, stimuli.ONE_HEAD, stimuli.MANY_HEADS, stimuli.SELF)
def outputs_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    layer = as_declared(subject, draw_self(case)) if case.name.startswith("self") else layer_for(subject, case)
    yield from compare_all(subject, case, layer, reference)


@requirement("MHA-TORCH-1", stimuli.REALISTIC)
def outputs_weights_and_gradients_are_those_of_torch(subject: Subject, case: Case) -> Evidence:
    layer = draw_layer(case)
    mask = causal(case.L, case.S, offset=1).to(case.device)
    shorter = torch.arange(case.S, device=case.device) < torch.tensor([[case.S], [case.S - 6]], device=case.device)
    for masks in ({}, {"key_mask": shorter}, {"attn_mask": mask}):
        masked = layer.with_inputs(**masks)
        yield from compare_all(subject, case, masked, run_in_torch)
    if subject.offers("weights"):
        got = run(subject, masked, need_weights=True).weights
        want = case.once("weights in torch", lambda: run_in_torch(masked)[1])
        assert got is not None
        yield close(got, want.mean(dim=1) if got.ndim == 3 else want, "weights")
