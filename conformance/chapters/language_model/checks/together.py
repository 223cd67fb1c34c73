"""Checks of the chapter spec/language_model.md: everything at once."""

from functools import partial

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import Evidence, cotangent, hollow, key_of, most
from attnconf.conformance.chapters.language_model.stimuli import models, wanted
from attnconf.conformance.chapters.shared.layers import masked_if_taken, run
from attnconf.conformance.chapters.transformer.checks.shared import with_gradients
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("LM-ORACLE-1", stimuli.USUAL, stimuli.WIDE)
def the_language_model_is_the_reference(subject: Subject, case: Case) -> Evidence:
    for block in models(subject, case, layers=2):
        block = masked_if_taken(subject, block, key_mask=hollow(case))
        real = hollow(case)[..., None] if "key_mask" in block.inputs else 1  # what comes at padding means nothing
        weight = cotangent(case) * real
        wrt = tuple(name for name in block.weights if not name.endswith("k.bias"))
        got = run(subject, block, cotangent=weight, wrt=wrt)
        compute = partial(with_gradients, partial(wanted, subject), block, weight, wrt)
        out, grads = case.once(key_of(subject, block, f"the reference {sorted(block.inputs)}"), compute)
        yield close(got.out * real, out * real, "logits, against the reference,")
        for name, grad in zip(wrt, grads, strict=True):
            what, unit = f"gradient of {name}, against the reference,", max(1.0, most(grad))
            yield close(got.grads[name], grad, what, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)
