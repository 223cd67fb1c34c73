"""Checks of the chapter spec/multi_head_attention.md: everything at once."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import SINGLE, SINGLE_SOURCE, Evidence
from attnconf.conformance.chapters.multi_head_attention.stimuli import (
    as_declared,
    draw_layer,
    draw_self,
    layer_for,
    own_weights,
    run,
    run_in_torch,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

Formula = Callable[[Call], tuple[Tensor, Tensor]]  # to (output, weights)


def compare_all(subject: Subject, case: Case, layer: Call, formula: Formula) -> Evidence:
    """Yield the measures of output and gradients against those of ``formula``."""
    name = f"{getattr(formula, '__name__', formula)} {layer.config} {sorted(layer.inputs)} {case.projects}"
    cotangent = case.draw("cotangent", *layer.inputs["query"].shape[:2], layer.config.out_dim)
    want, grads = case.once(name, lambda: with_gradients(formula, layer, cotangent))
    others = set(layer.weights) - set(own_weights(subject, layer, case))
    grads = {name: grad for name, grad in grads.items() if name not in others}
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
    layer = as_declared(subject, draw_self(case), case) if case.name.startswith("self") else layer_for(subject, case)
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
