"""Checks of the chapter spec/encoder.md: padding and masks."""

from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    Evidence,
    each,
    explicit,
    loud,
    renewed,
    repadded,
    scattered,
    three_layers,
    trailing,
    where_supported,
    whole,
)
from attnconf.conformance.chapters.shared.layers import causality, padding, run, run_unless_refused
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ENC-PAD-1", stimuli.BATCHES, any_weights=True)
def padding_does_not_reach_real_tokens(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        x = block.inputs["x"]
        for keep, poison in ((trailing(case), 10 * x.sign()), (scattered(case), 3 * case.draw("padding", *x.shape))):
            masked = loud(block).with_inputs(key_mask=keep)
            want = run(subject, masked).out[keep]
            got = run(subject, masked.with_inputs(x=torch.where(keep[..., None], x, poison))).out[keep]
            yield close(got, want, f"{what}: out of real tokens with other padding")


@requirement("ENC-ALONE-1", stimuli.BATCHES, any_weights=True)
def a_padded_sentence_gives_what_it_gives_alone(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    for what, block in each(subject, case):
        out, x = run(subject, block.with_inputs(key_mask=keep)).out, block.inputs["x"]
        for b in sorted({1 % case.B, 2 % case.B}):
            length = int(keep[b].sum())
            want = run(subject, block.with_inputs(x=x[b : b + 1, :length])).out[0]
            yield close(out[b, :length], want, f"{what}: out of {length} tokens, padded, against unpadded,")


@requirement("ENC-LENGTH-1", stimuli.ONE, any_weights=True)
def the_output_is_as_long_as_the_input_and_finite(subject: Subject, case: Case) -> Evidence:
    """Also where the last tokens are padding in all samples, or the first ones, where that leaves every query a key."""
    longer = case.draw("longer", case.B, case.L + 3, case.width)
    keep = padding(case, case.L + 3, (case.L, case.L - 2))
    masks = {"end": keep} if causality(subject) else {"end": keep, "beginning": keep.flip(1)}
    for what, block in each(subject, case, whole):
        for side, mask in masks.items():
            out = run(subject, block.with_inputs(x=longer, key_mask=mask)).out
            yield holds(bool(out.isfinite().all()), f"{what}, padded at the {side}: out is not finite", "nonfinite")


@requirement("ENC-EMPTY-1", stimuli.ONE, any_weights=True)
def a_sample_of_padding_does_not_change_the_others(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case).roll(-1, dims=0)
    empty = keep.clone()
    empty[-1] = False
    for what, block in each(subject, case, whole):
        out = run_unless_refused(subject, block.with_inputs(key_mask=empty))
        want = run(subject, block.with_inputs(key_mask=keep)).out[:-1][keep[:-1]]
        got = want if out is None else out[:-1][keep[:-1]]
        yield close(got, want, f"{what}: out of the others where the last sample is nothing but padding")


@requirement("ENC-MASK-1", stimuli.ONE)
def an_explicit_mask_says_which_token_sees_which(subject: Subject, case: Case) -> Evidence:
    seen, source = explicit(case), case.L - 1
    seen[: case.L // 2, source] = False
    blind = ~seen[:, source]
    for what, block in each(subject, case):
        masked = loud(block).with_inputs(attn_mask=seen)
        other = masked.with_inputs(x=renewed(case, block.inputs["x"], source))
        got, want = (run(subject, b).out[:, blind] for b in (other, masked))
        yield close(got, want, f"{what}: out of tokens that do not see token {source}, with another one in its place")
        unhidden = block.with_inputs(attn_mask=torch.ones_like(seen))
        yield close(run(subject, unhidden).out, run(subject, block).out, f"{what}: out with a mask that hides nothing")


@requirement("ENC-MASK-2", stimuli.ONE)
def a_sample_may_have_a_mask_of_its_own(subject: Subject, case: Case) -> Evidence:
    one = explicit(case)
    masks = torch.stack([one.flip(0) | one if b % 2 else one for b in range(case.B)])[:, None]
    for what, block in each(subject, case):
        out, x = run(subject, block.with_inputs(attn_mask=masks)).out, block.inputs["x"]
        for b in (0, case.B - 1):
            want = run(subject, block.with_inputs(x=x[b : b + 1], attn_mask=masks[b, 0])).out[0]
            yield close(out[b], want, f"{what}: out of sample {b} with a mask for each sample, against it alone,")


@requirement("ENC-MASK-3", stimuli.ONE)
def both_masks_hold_at_once(subject: Subject, case: Case) -> Evidence:
    seen, keep = explicit(case), trailing(case)
    seen[1:-1, -1] = False
    for what, block in each(subject, case):
        masked, x = block.with_inputs(attn_mask=seen, key_mask=keep), block.inputs["x"]
        want = run(subject, masked).out
        got = run(subject, masked.with_inputs(x=repadded(case, x, keep))).out
        yield close(got[keep], want[keep], f"{what}, both masks: out of real tokens with other padding")
        got = run(subject, masked.with_inputs(x=renewed(case, x, case.L - 1))).out
        yield close(got[0, 1:-1], want[0, 1:-1], f"{what}, both masks: out of tokens that do not see the last one")


@requirement("ENC-DEPTH-1", stimuli.ONE)
def masks_reach_every_layer(subject: Subject, case: Case) -> Evidence:
    """What of the three an adapter says it does not take is not asked."""
    last = torch.arange(case.L, device=case.device) == case.L - 1
    kept = (~last).expand(case.B, case.L)
    measures = []
    for what, block in each(subject, case, three_layers):
        for name, masked, keep in (
            ("key_mask", block.with_inputs(key_mask=trailing(case)), trailing(case)),
            ("attn_mask", block.with_inputs(attn_mask=~last | last[:, None]), kept),
            ("causal", block.with_config(causal=True), kept),
        ):
            measures.append(partial(unmoved, subject, case, masked, keep, f"{what}, three layers, {name}"))
    yield from where_supported(measures)


def unmoved(subject: Subject, case: Case, masked: Call, keep: Tensor, what: str) -> Measure:
    """Return the measure of the output of the tokens kept, with other numbers in the rest."""
    other = masked.with_inputs(x=repadded(case, masked.inputs["x"], keep))
    got, want = (run(subject, block).out[keep] for block in (other, masked))
    return close(got, want, f"{what}: out with other tokens where they are hidden")
