"""Checks of the chapter spec/transformer.md: what several sections use."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import orders, run
from attnconf.conformance.chapters.transformer.stimuli import TABLES, model, reads_ids, transparent, vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes

Evidence = Iterator[Measure]


def most(x: Tensor) -> float:
    return float(x.abs().max())


def padded_source(case: Case) -> Tensor:
    """Return a mask (B, S) whose samples end in padding, of different lengths; the first has none."""
    counts = (case.S - torch.arange(case.B, device=case.device) % case.S)[:, None]
    return torch.arange(case.S, device=case.device) < counts


def hollow_target(case: Case) -> Tensor:
    """Return a mask (B, L) with padding at the second place: what is at the end is hidden by causality already."""
    mask = torch.ones(case.B, case.L, dtype=torch.bool, device=case.device)
    mask[:, 1:2] = False
    return mask


def moved(out: Tensor) -> Tensor:
    """Return how far outputs (1 + T, L, …) move with each token that is another: (T, L), in units of max|out|."""
    return (out[1:] - out[:1]).abs().flatten(2).amax(dim=2) / most(out[0])


def gradients(subject: Subject, case: Case, block: Call, wrt: tuple[str, ...]) -> dict[str, Tensor]:
    """Return the gradients of <cotangent, out>."""
    return dict(run(subject, block, cotangent=cotangent(subject, case), wrt=wrt).grads)


def cotangent(subject: Subject, case: Case) -> Tensor:
    return case.draw("cotangent", case.B, case.L, vocabulary(case) if reads_ids(subject) else case.width)


def placing(subject: Subject, case: Case, blank: bool) -> Call:
    """Return a model that hands vectors on: layers add nothing, and norms are left out where they can be.

    The ids in it are 1, 2 and 3; with ``blank`` their rows are 0. The others, or unit vectors in a head of its own, are
    for reading.
    """
    block = transparent(subject, model(subject, case, norm_first=orders(subject)[-1])).with_config(max_len=512)
    block = block.with_weights({n: torch.eye(*w.shape).to(w) for n, w in block.weights.items() if n == "head.weight"})
    ids = {name: x % 3 + 1 for name, x in block.inputs.items()}
    if blank:
        rows = (torch.arange(vocabulary(case), device=case.device) > 3)[:, None]
        block = block.with_weights({n: block.weights[n] * rows for n in TABLES[:2] if n in block.weights})
    return block.with_inputs(**ids)


Formula = Callable[[Call], Tensor]


def key_of(subject: Subject, block: Call, what: str) -> str:
    """Return what tells apart, within a case, what is wanted of different subjects."""
    return f"{what} {block.config} {sorted(block.inputs)} {sorted(subject.declares.items())}"


def with_gradients(formula: Formula, block: Call, weight: Tensor, wrt: tuple[str, ...]) -> tuple[Tensor, list[Tensor]]:
    """Return what a formula gives for a block, and the gradients of <weight, out>."""
    leaves = {name: w.clone().requires_grad_(name in wrt) for name, w in block.weights.items()}
    out = formula(block.with_weights(leaves))
    return out.detach(), slopes([(out, weight)], [leaves[name] for name in wrt])
