"""Checks of the chapter spec/transformer.md: everything at once."""

from functools import partial

from attnconf.conformance.chapters.shared.layers import masked_if_taken, run
from attnconf.conformance.chapters.shared.learning import LEARNED, TRANSLATING_STEPS, reverse, translated_accuracy
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import (
    Evidence,
    Formula,
    cotangent,
    key_of,
    most,
    padded_source,
    with_gradients,
)
from attnconf.conformance.chapters.transformer.stimuli import depths, has_torch, model, models, run_in_torch, wanted
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def compare_all(subject: Subject, case: Case) -> Evidence:
    """Yield that outputs and gradients are the reference's, and nn.Transformer's where it is such a model."""
    weight = cotangent(subject, case)
    for block in models(subject, case, depths(subject, case, (2, 1))):
        block = masked_if_taken(subject, block, source_mask=padded_source(case))
        wrt = tuple(name for name in block.weights if not name.endswith("k.bias"))
        got = run(subject, block, cotangent=weight, wrt=wrt)
        formulas: dict[str, Formula] = {"the reference": partial(wanted, subject)}
        if has_torch(subject, block):
            formulas["nn.Transformer"] = run_in_torch
        for whose, formula in formulas.items():
            compute = partial(with_gradients, formula, block, weight, wrt)
            out, grads = case.once(key_of(subject, block, whose), compute)
            yield close(got.out, out, f"out, against {whose},")
            for name, grad in zip(wrt, grads, strict=True):
                what, unit = f"gradient of {name}, against {whose},", max(1.0, most(grad))
                yield close(got.grads[name], grad, what, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("TRF-ORACLE-1", stimuli.USUAL)
def the_encoder_decoder_is_the_reference(subject: Subject, case: Case) -> Evidence:
    yield from compare_all(subject, case)


@requirement("TRF-ORACLE-2", stimuli.USUAL)
def the_transformer_is_the_reference(subject: Subject, case: Case) -> Evidence:
    yield from compare_all(subject, case)


@requirement("TRF-LEARN-1", stimuli.LEARN)
def it_learns_to_reverse(subject: Subject, case: Case) -> Evidence:
    got = translated_accuracy(subject, case, model(subject, case), reverse)
    words = f"after {TRANSLATING_STEPS} steps of reversing, {100 * got:.1f} % of new words are right"
    yield holds(got >= LEARNED, f"{words}, want {100 * LEARNED:g} %")
