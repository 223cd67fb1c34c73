"""The calls of encoder and decoder together that the laws of every call are judged with."""

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
from attnconf.conformance.chapters.shared.layers import masked_if_taken
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import padded_source
from attnconf.conformance.chapters.transformer.stimuli import model, other
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def transformer(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(model(subject, case))


def half_or_error(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the component as a case has it; in float16, where a fill may not exist, it may raise an error."""
    for trial in transformer(subject, case):
        yield replace(trial, or_raises=case.dtype == torch.float16)


def masked(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(masked_if_taken(subject, model(subject, case), source_mask=padded_source(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a model after calls with another source, and with longer source and target."""
    block, longer = model(subject, case), model(subject, case.but(S=case.S + 1, L=case.L + 2))
    everywhere = torch.ones(case.B, case.S, dtype=torch.bool, device=case.device)
    same = block.with_inputs(source=other(case, block.inputs["source"], everywhere))
    masked = block.with_inputs(source_mask=padded_source(case))
    earlier = block.with_inputs(source_mask=padded_source(case).flip(0))
    if gives_numbers(subject, masked):
        yield Trial(block).after(masked.inputs, what="after a call with a mask")
        yield Trial(masked).after(earlier.inputs, what="source_mask, after a call with another one")
    yield Trial(block).after(same.inputs, longer.inputs, what="after calls with another source, and with longer ones")


MODES = ((False, "inference_mode"), (True, "tracked"), (True, "no_grad"))  # training, autograd
LAWS = {
    "CALL-SHAPE-1": Trials(transformer, (stimuli.USUAL, stimuli.EDGES)),
    **of_dtypes(half_or_error, stimuli.USUAL),
    "CALL-EMPTY-1": Trials(without_samples(transformer), (stimuli.USUAL[:1],)),
    "CALL-LAYOUT-1": Trials(laid_out(transformer, single=True), (stimuli.USUAL[:1],)),
    "CALL-MODE-1": Trials(in_modes(masked, MODES), (stimuli.USUAL,)),
    "CALL-IMMUT-1": Trials(masked, (stimuli.USUAL,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.USUAL,)),
}
CALLS = {"encoder_decoder": LAWS, "transformer": LAWS}
