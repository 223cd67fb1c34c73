"""Checks of the chapter spec/multi_head_attention.md: what else comes back."""

import math

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import Evidence
from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for, own_weights, run
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


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
    cotangent, own = case.draw("cotangent", case.B, case.L, case.embed), own_weights(subject, layer, case)
    grads = run(subject, layer, cotangent=cotangent, wrt=tuple(own)).grads
    steps = {n: case.draw(f"direction of {n}", *w.shape) / math.sqrt(w[0].numel()) for n, w in own.items()}
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
