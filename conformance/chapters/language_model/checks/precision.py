"""Checks of the chapter spec/language_model.md: half precision."""

from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import Evidence, key_of
from attnconf.conformance.chapters.language_model.stimuli import model, wanted
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.transformer.stimuli import in_double
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("LM-HALF-1", stimuli.USUAL)
def precision_is_that_of_a_textbook(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        block = model(subject, case.but(dtype=dtype), layers=2)
        want, allowed = case.once(key_of(subject, block, str(dtype)), partial(textbook_error, subject, case, block))
        yield error_budget(run(subject, block).out, want, allowed, dtype, steps=5)


def textbook_error(subject: Subject, case: Case, block: Call) -> tuple[Tensor, tuple[float, float]]:
    """Return what is wanted, and the errors (largest, root mean square) to compare with.

    They are those of the reference with its features in two orders.
    """
    want = wanted(subject, in_double(block))
    orders = (torch.arange(block.config.embed_dim), case.permutation("features", block.config.embed_dim))
    errors = [wanted(subject, block, order).double() - want for order in orders]
    return want, worst(errors)
