"""What is counted: one call of each component, as large as a case says, and the FLOPs that it needs.

In a case B is the batch, H heads of E features each, L queries, S keys, F the width of values or the hidden width.
"""

from typing import Any

from attnconf.conformance.chapters.contents import costs
from attnconf.conformance.chapters.shared.cost import Workload
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.counter import Counts
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    """Return the call of a case as the subject is declared to take it."""
    return costs()[subject.component].workload(subject, case)


def count(subject: Subject, case: Case, gradients: bool) -> Counts:
    """Return what a call costs that is not the first: one of two queries and three keys has gone before.

    With gradients, of everything that has one; else no graph is kept. Raises Failure, and Unsupported where the call
    raises an error: what such a call costs is not known, and that it fails is for other chapters to say.
    """
    asked, short = workload(subject, case), workload(subject, case.but(L=2, S=3))
    floats = [n for n, x in {**asked.weights, **asked.inputs}.items() if x.is_floating_point()]
    options: dict[str, Any] = {"mode": "no_grad"}
    if gradients:
        options = {"cotangent": case.draw("cotangent", *asked.out_shape), "wrt": tuple(floats)}
    same = "query" in asked.inputs and "key" not in asked.inputs
    try:
        reply = subject.ask(
            asked.config, asked.inputs, asked.out_shape, asked.weights, before=(short.inputs,), same=same, counted=True,
            **options,
        )  # fmt: skip
    except Failure as failure:
        if failure.reason == "raised":
            raise Unsupported(f"{case.L} tokens: {failure.message}") from None
        raise
    assert reply.counts is not None  # it was counted
    return reply.counts
