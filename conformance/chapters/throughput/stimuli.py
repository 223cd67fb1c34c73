"""What is counted: one call of each component, as large as a case says, and the FLOPs that it needs.

In a case B is the batch, H heads of E features each, L queries, S keys, F the width of values or the hidden width; a
layer is drawn from the same case in the names of its own chapter.
"""

from typing import Any

import torch

from attnconf.conformance.chapters.contents import costs
from attnconf.conformance.chapters.shared.cost import Workload
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.counter import Counts

# -- the cases

SHAPE = Shape(
    "B H L E F S",
    "{B} samples, {H} heads of {E}, {L} tokens (beside {S} keys where those may differ)",
    products={"width": "H E"},
    multiples={"E": 2},
    heads="H",
    model="width",
    hidden="F",
    keys="E",
    values="F",
)


USUAL = (SHAPE.case("throughput-1", B=2, H=3, L=5, E=4, F=11, S=7, dtype=torch.float32, fixed=True),)
# memory is that of what is as long as the sequence, or as long and as wide
LONG = (SHAPE.case("throughput-long-1", B=1, H=2, L=59, E=16, F=11, S=67, dtype=torch.float32, fixed=True),)


def workload(subject: Subject, case: Case) -> Workload:
    """Return the call of a case as the subject is declared to take it, and the FLOPs that it needs."""
    return costs()[subject.component].workload(subject, case)


def count(subject: Subject, case: Case, gradients: bool) -> Counts:
    """Return what a call costs that is not the first: one of two queries and three keys has gone before.

    With gradients, of everything that has one; else no graph is kept. Raises Failure, and Unsupported where the call
    raises an error: what such a call costs is not known, and that it fails is for other chapters to say.
    """
    asked, short = (workload(subject, c)[0] for c in (case, case.but(L=2, S=3)))
    floats = [n for n, x in {**asked.weights, **asked.inputs}.items() if x.is_floating_point()]
    options: dict[str, Any] = {"mode": "no_grad"}
    if gradients:
        options = {"cotangent": case.draw("cotangent", *asked.out_shape), "wrt": tuple(floats)}
    try:
        reply = subject.call(asked.asked(before=(short.inputs,), counted=True, **options))
    except Failure as failure:
        if failure.reason == "raised":
            raise Unsupported(f"{case.L} tokens: {failure.message}") from None
        raise
    assert reply.counts is not None  # it was counted
    return reply.counts
