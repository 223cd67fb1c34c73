"""Checks of the chapter spec/transformer.md: training."""

from functools import partial

import torch

from attnconf.conformance.chapters.shared.layers import endings, run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, gradients, key_of, most
from attnconf.conformance.chapters.transformer.stimuli import model, reads_ids, silent, wanted
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TRF-GRAD-1", stimuli.USUAL)
def gradients_reach_every_weight(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, final_norm=endings(subject)[-1])
    wrt = [name for name in block.weights if not name.endswith("k.bias")]  # that one has no effect
    if not reads_ids(subject):
        wrt += ["source", "target"]
    grads = gradients(subject, case, block, tuple(wrt))
    missing = [name for name, grad in grads.items() if not most(grad) > 0]
    yield holds(not missing, f"no gradient reaches {', '.join(missing[:3])}")


@requirement("TRF-DROP-1", stimuli.USUAL, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    yield close(
        run(subject, block.with_config(dropout=0.5), seed=1).out,
        want,
        "out in evaluation with dropout, against without,",
    )


@requirement("TRF-DROP-2", stimuli.USUAL)
def what_is_dropped_adds_nothing(subject: Subject, case: Case) -> Evidence:
    """With probability 1, sublayers and the vectors of tokens."""
    block = model(subject, case)
    out = run(subject, block.with_config(dropout=1.0, training=True), seed=1).out
    still = block.with_weights(silent(block))
    sizes = {"source": (case.B, case.S, case.width), "target": (case.B, case.L, case.width)}
    nothing = {name: torch.zeros(size, dtype=case.dtype, device=case.device) for name, size in sizes.items()}
    compute = partial(wanted, subject, still, nothing if reads_ids(subject) else None)
    want = case.once(key_of(subject, block, "dropped"), compute)
    yield close(out, want, "out in training with dropout 1, against that of layers that add nothing,", unit=1.0)
