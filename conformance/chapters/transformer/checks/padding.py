"""Checks of the chapter spec/transformer.md: padding."""

import torch

from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, hollow_target, padded_source
from attnconf.conformance.chapters.transformer.stimuli import alike, depths, model, other
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TRF-PAD-1", stimuli.USUAL, any_weights=True)
def padded_source_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    mask = padded_source(case)
    block = model(subject, case, depths(subject, case, (2, 1))).with_inputs(source_mask=mask)
    source = other(case, block.inputs["source"], ~mask, size=1e4)
    want = run(subject, block).out
    yield close(run(subject, block.with_inputs(source=source)).out, want, "out with other padding of the source")


@requirement("TRF-PAD-2", stimuli.USUAL, any_weights=True)
def padding_is_as_good_as_its_absence(subject: Subject, case: Case) -> Evidence:
    block, length = model(subject, case), max(1, case.S - 2)
    mask = torch.arange(case.S, device=case.device).expand(case.B, case.S) < length
    got = run(subject, block.with_inputs(source_mask=mask)).out
    want = run(subject, block.with_inputs(source=block.inputs["source"][:, :length])).out
    yield close(got, want, f"out of {length} source tokens and padding, against those tokens alone,")


@requirement("TRF-PAD-3", stimuli.SQUARE, any_weights=True)
def padded_target_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    """Neither what stands among targets, nor that padding follows them."""
    block, mask = model(subject, case), alike(hollow_target(case), 2)
    target = alike(block.inputs["target"], 2)
    target = torch.cat([target[:1], other(case, target[:1], ~mask[:1], size=1e4)])
    inputs = {"source": alike(block.inputs["source"], 2), "target": target, "target_mask": mask}
    out = run(subject, block.with_inputs(**inputs)).out[:, mask[0]]
    yield close(out[1], out[0], "out of real targets with other padding among them")
    ended = torch.arange(case.L, device=case.device).expand(case.B, case.L) < case.L - 1
    got, want = (run(subject, b).out[:, :-1] for b in (block.with_inputs(target_mask=ended), block))
    yield close(got, want, "out before a target that is padding, against that with a token in its place,")
