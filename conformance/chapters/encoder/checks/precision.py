"""Checks of the chapter spec/encoder.md: half precision."""

import torch

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import Evidence, each, in_budget, whole
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ENC-HALF-1", stimuli.EVEN)
def errors_of_half_precision_are_those_of_rounding(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        rounded = case.but(dtype=dtype)
        for _, block in each(subject, rounded, whole):
            yield in_budget(subject, rounded, block)
