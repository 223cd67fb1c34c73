"""Checks of the chapter spec/language_model.md: training."""

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import Evidence, gradients, most
from attnconf.conformance.chapters.language_model.stimuli import in_rows, model
from attnconf.conformance.chapters.shared.layers import endings, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("LM-GRAD-1", stimuli.USUAL)
def gradients_reach_every_weight(subject: Subject, case: Case) -> Evidence:
    block = in_rows(model(subject, case, final_norm=endings(subject)[-1]), case.L)
    wrt = [name for name in block.weights if not name.endswith("k.bias")]  # that one has no effect
    grads = gradients(subject, case, block, tuple(wrt))
    missing = [name for name, grad in grads.items() if not most(grad) > 0]
    yield holds(not missing, f"no gradient reaches {', '.join(missing[:3])}")


@requirement("LM-DROP-1", stimuli.USUAL, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    got = run(subject, block.with_config(dropout=0.5), seed=1).out
    yield close(got, want, "logits in evaluation with dropout, against without,")
