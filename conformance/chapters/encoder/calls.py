"""The calls of encoder layers and stacks that the laws of every call are judged with."""

from collections.abc import Iterator

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
from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def one_layer(subject: Subject, case: Case) -> Iterator[Trial]:
    for order, block in stimuli.each(subject, case):
        yield Trial(block, order)


def whole(subject: Subject, case: Case) -> Iterator[Trial]:
    for order, block in stimuli.each(subject, case, stimuli.whole):
        yield Trial(block, order)


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a layer or stack after a call with another mask, where masks work at all, and with other lengths."""
    for trial in whole(subject, case):
        masked = trial.call.with_inputs(key_mask=stimuli.trailing(case))
        if gives_numbers(subject, masked):
            earlier = masked.with_inputs(key_mask=torch.ones_like(stimuli.trailing(case))).inputs
            yield Trial(masked, trial.what).after(earlier, what="after a call with another mask")
            yield trial.after(masked.inputs, what="after a call with a mask")
        for length in (case.L + 2, case.L - 2):
            x = case.draw(f"earlier {length}", case.B, length, case.width)
            yield trial.after({"x": x}, what=f"after a call with {length} tokens")


LAWS = {
    "CALL-SHAPE-1": Trials(one_layer, (stimuli.ONE, stimuli.EDGES)),
    **of_dtypes(one_layer, stimuli.ONE),
    "CALL-EMPTY-1": Trials(without_samples(one_layer), (stimuli.ONE,)),
    "CALL-LAYOUT-1": Trials(laid_out(one_layer, single=True), (stimuli.ONE,)),
    "CALL-MODE-1": Trials(in_modes(whole, stimuli.MODES, single=True), (stimuli.EVEN,)),
    "CALL-IMMUT-1": Trials(whole, (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
}
CALLS = {"encoder_layer": LAWS, "encoder": LAWS}
