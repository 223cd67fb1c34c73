"""Checks of the chapter spec/language_model.md: what several sections use."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.language_model.stimuli import in_rows, model, transparent
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.chapters.transformer.stimuli import vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def most(x: Tensor) -> float:
    return float(x.abs().max())


def hollow(case: Case) -> Tensor:
    """Return a mask (B, L) with padding at the second place: what is at the end is hidden by causality already."""
    mask = torch.ones(case.B, case.L, dtype=torch.bool, device=case.device)
    mask[:, 1:2] = False
    return mask


def cotangent(case: Case) -> Tensor:
    return case.draw("cotangent", case.B, case.L, vocabulary(case))


def gradients(subject: Subject, case: Case, block: Call, wrt: tuple[str, ...]) -> dict[str, Tensor]:
    """Return the gradients of <cotangent, out>."""
    return dict(run(subject, block, cotangent=cotangent(case), wrt=wrt).grads)


def without_bias(block: Call) -> Call:
    """Return the model with a bias of 0 where its head has one."""
    return block.with_weights({n: torch.zeros_like(w) for n, w in block.weights.items() if n == "head.bias"})


def placing(subject: Subject, case: Case, blank: bool, positions: str) -> Call:
    """Return a model that hands vectors on: layers add nothing, and norms are left out where they can be.

    The ids in it are 1, 2 and 3; with ``blank`` their rows are 0. The others, or unit vectors in a head of its own, are
    for reading.
    """
    block = transparent(subject, model(subject, case, placement=best_known(subject)[-1], positions=positions))
    block = block.with_weights({n: torch.eye(*w.shape).to(w) for n, w in block.weights.items() if n == "head.weight"})
    if blank:
        rows = (torch.arange(vocabulary(case), device=case.device) > 3)[:, None]
        block = block.with_weights({"table.weight": block.weights["table.weight"] * rows})
    return in_rows(block, max(case.L, 32)).with_inputs(ids=block.inputs["ids"] % 3 + 1)


def key_of(subject: Subject, block: Call, what: str) -> str:
    """Return what tells apart, within a case, what is wanted of different subjects."""
    return f"{what} {block.config} {sorted(subject.declares.items())}"
