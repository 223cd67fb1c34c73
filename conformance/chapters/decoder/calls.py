"""The calls of decoder layers and stacks that the laws of every call are judged with."""

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
from attnconf.conformance.chapters.decoder import stimuli
from attnconf.conformance.chapters.decoder.checks import blocks, order_of
from attnconf.conformance.chapters.shared.layers import masked_if_taken, padding
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def decoders(subject: Subject, case: Case) -> Iterator[Trial]:
    for block in blocks(subject, case):
        yield Trial(block, order_of(block))


def first_order(subject: Subject, case: Case) -> Iterator[Trial]:
    yield next(decoders(subject, case))


def half_or_error(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the component as a case has it; in float16, where a fill may not exist, it may raise an error."""
    for trial in first_order(subject, case):
        yield replace(trial, or_raises=case.dtype == torch.float16)


def masked(subject: Subject, case: Case) -> Iterator[Trial]:
    for trial in decoders(subject, case):
        kept = padding(case, case.S, (case.S, 3))
        yield Trial(masked_if_taken(subject, trial.call, memory_mask=kept), trial.what)


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the component after calls with 2 tokens more, 2 less and as many others."""
    before = [
        {
            "x": case.draw("x before", case.B, case.L + more, case.width),
            "memory": case.draw("memory before", case.B, case.S + more, case.width),
        }
        for more in (2, -2, 0)
    ]
    masks = {
        "memory_mask": (padding(case, case.S, (case.S, 3)), padding(case, case.S, (case.S - 1, case.S))),
        "key_mask": (padding(case, case.L, (case.L, 2)), padding(case, case.L, (case.L - 1, case.L))),
    }
    for trial in decoders(subject, case):
        for name, pair in masks.items():
            masked, earlier = (trial.call.with_inputs(**{name: mask}) for mask in pair)
            if gives_numbers(subject, masked) and gives_numbers(subject, earlier):
                yield trial.after(masked.inputs, what=f"after a call with {name}")
                yield Trial(masked, trial.what).after(earlier.inputs, what=f"{name}, after a call with another one")
        yield trial.after(*before, what="after calls with 2 tokens more, 2 less and as many others")


MODES = ((True, "tracked"), (False, "no_grad"), (True, "inference_mode"))  # training, autograd
LAWS = {
    "CALL-SHAPE-1": Trials(first_order, (stimuli.EDGES,)),
    **of_dtypes(half_or_error, stimuli.ONE),
    "CALL-EMPTY-1": Trials(without_samples(first_order), (stimuli.ONE,)),
    "CALL-LAYOUT-1": Trials(laid_out(first_order, single=True), (stimuli.ONE,)),
    "CALL-MODE-1": Trials(in_modes(masked, MODES), (stimuli.ONE,)),
    "CALL-IMMUT-1": Trials(masked, (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
}
CALLS = {"decoder_layer": LAWS, "decoder": LAWS}
