"""Checks of the chapter spec/transformer.md: half precision."""

from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, key_of, placing
from attnconf.conformance.chapters.transformer.stimuli import in_double, model, wanted
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TRF-HALF-1", stimuli.LONG)
def half_precision_tells_positions_apart(subject: Subject, case: Case) -> Evidence:
    block = placing(subject, case.but(dtype=torch.bfloat16), blank=True)
    bound, source = 8 * torch.finfo(torch.bfloat16).eps, "eight units of bfloat16"
    want = case.once(key_of(subject, block, "half"), partial(wanted, subject, in_double(block)))
    yield close(run(subject, block).out, want, "logits", bound=bound, source=source)


@requirement("TRF-HALF-2", stimuli.USUAL)
def precision_is_that_of_a_textbook(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        block = model(subject, case.but(dtype=dtype), (2, 1))
        want, allowed = case.once(key_of(subject, block, str(dtype)), partial(textbook_error, subject, case, block))
        yield error_budget(run(subject, block).out, want, allowed, dtype, steps=7)


def textbook_error(subject: Subject, case: Case, block: Call) -> tuple[Tensor, tuple[float, float]]:
    """Return what is wanted, and the errors (largest, root mean square) to compare with.

    They are those of the reference with its features in two orders.
    """
    want = wanted(subject, in_double(block))
    orders = (torch.arange(block.config.embed_dim), case.permutation("features", block.config.embed_dim))
    errors = [wanted(subject, block, order=order).double() - want for order in orders]
    return want, worst(errors)
