"""The calls of a language model that the laws of every call are judged with."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from attnconf.conformance.chapters.calls.stimuli import (
    Trial,
    Trials,
    gives_numbers,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import hollow
from attnconf.conformance.chapters.language_model.stimuli import model
from attnconf.conformance.chapters.shared.layers import masked_if_taken
from attnconf.conformance.chapters.transformer.stimuli import other
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def language_model(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(model(subject, case))


def half_or_error(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the model as a case has it; in float16, where a fill may not exist, it may raise an error."""
    for trial in language_model(subject, case):
        yield replace(trial, or_raises=case.dtype == torch.float16)


def masked(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(masked_if_taken(subject, model(subject, case), key_mask=hollow(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a model after calls with other ids, and with longer ones."""
    block, longer = model(subject, case), model(subject, case.but(L=case.L + 2))
    everywhere = torch.ones(case.B, case.L, dtype=torch.bool, device=case.device)
    same = block.with_inputs(ids=other(case, block.inputs["ids"], everywhere))
    masked = block.with_inputs(key_mask=hollow(case))
    earlier = block.with_inputs(key_mask=hollow(case).flip(1))
    if gives_numbers(subject, masked):
        yield Trial(block).after(masked.inputs, what="after a call with a mask")
        yield Trial(masked).after(earlier.inputs, what="key_mask, after a call with another one")
    yield Trial(block).after(same.inputs, longer.inputs, what="after calls with other ids, and with longer ones")


MODES = ((False, "inference_mode"), (True, "tracked"), (True, "no_grad"))  # training, autograd
LAWS = {
    "CALL-SHAPE-1": Trials(language_model, (stimuli.USUAL, stimuli.EDGES)),
    **of_dtypes(half_or_error, stimuli.USUAL),
    "CALL-EMPTY-1": Trials(without_samples(language_model), (stimuli.USUAL[:1],)),
    "CALL-LAYOUT-1": Trials(laid_out(language_model, single=True), (stimuli.USUAL[:1],)),
    "CALL-MODE-1": Trials(in_modes(masked, MODES), (stimuli.USUAL,)),
    "CALL-IMMUT-1": Trials(masked, (stimuli.USUAL,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.USUAL,)),
}
CALLS = {"language_model": LAWS}
