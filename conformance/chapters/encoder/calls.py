"""The calls of encoder layers and stacks that the laws of every call are judged with."""

from collections.abc import Iterator

import torch
from torch import Tensor

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


def masks(case: Case) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the name of an argument for a mask, and two masks that leave each token one to see."""
    padding = stimuli.trailing(case)
    yield "key_mask", padding, torch.ones_like(padding)
    seen = torch.ones(case.B, 1, case.L, case.L, dtype=torch.bool, device=case.device)
    yield "attn_mask", seen.tril(), seen.triu()


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a layer or stack after a call with another mask, where masks work at all, and with other lengths."""
    for trial in whole(subject, case):
        for name, mask, other in masks(case):
            masked, earlier = (trial.call.with_inputs(**{name: x}) for x in (mask, other))
            if gives_numbers(subject, masked) and gives_numbers(subject, earlier):
                yield Trial(masked, trial.what).after(earlier.inputs, what=f"{name}, after a call with another one")
                yield trial.after(masked.inputs, what=f"after a call with {name}")
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
