"""Checks of the chapter spec/encoder.md: modes and training."""

import torch

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    each,
    silenced,
    trailing,
    unshifted,
    whole,
)
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, Measure, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

ALL_BUT_NONE = 1 - 1e-12  # a probability of dropout at which nothing is kept, and 1 - p can still be divided by


@requirement("ENC-MODE-2", stimuli.EVEN, any_weights=True)
def every_mode_gives_the_same_with_padding(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    for what, block in each(subject, case, whole):
        masked = block.with_inputs(key_mask=keep)
        want = run(subject, masked).out[keep]
        for training, mode in stimuli.MODES:
            got = run(subject, masked.with_config(training=training), mode=mode).out[keep]
            text = f"{what}, {'training' if training else 'evaluation'}, {mode}: out"
            yield close(got, want, text, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("ENC-DROP-1", stimuli.ONE, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        want = run(subject, block).out
        for p in (ALL_BUT_NONE, 0.25):  # the first leaves nothing to chance
            got = run(subject, block.with_config(dropout=p), seed=1).out
            yield close(got, want, f"{what}: out in evaluation with dropout, against out without,")


@requirement("ENC-DROP-2", stimuli.ONE)
def dropout_takes_what_is_added_and_not_the_residual(subject: Subject, case: Case) -> Evidence:
    """At a probability of nearly 1 nothing is added; a layer without dropout adds everything."""
    for what, block in each(subject, case):
        block = unshifted(block)  # the norm may stand before the dropout, and behind it
        trained = run(subject, block.with_config(dropout=ALL_BUT_NONE, training=True), seed=1).out
        if torch.equal(trained, run(subject, block).out):
            yield Measure()
            continue
        want = run(subject, silenced(case, block, ATTENTION, NETWORK)).out
        yield close(trained, want, f"{what}: out in training where all is dropped, against out with nothing added,")


@requirement("ENC-GRAD-1", stimuli.ONE)
def gradients_reach_input_and_weights(subject: Subject, case: Case) -> Evidence:
    """But for the key's bias, and the shift of a norm of keys, which have no effect: all keys move alike."""
    cotangent = case.draw("cotangent", case.B, case.L, case.width)
    for what, block in each(subject, case, whole):
        names = ("x", *(name for name in block.weights if not name.endswith(("attn.k.bias", "attn.k_norm.bias"))))
        grads = run(subject, block, cotangent=cotangent, wrt=names).grads
        sizes = {name: float(grad.abs().max()) for name, grad in grads.items()}
        for name, size in sizes.items():
            yield holds(size > 1e-9 * max(sizes.values()), f"{what}: no gradient reaches {name}")


@requirement("ENC-GRAD-2", stimuli.ONE)
def padding_leaves_gradients_as_they_are(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    cotangent = case.draw("cotangent", case.B, case.L, case.width) * keep[..., None]
    for what, block in each(subject, case):
        x, names = block.inputs["x"], ("x", *block.weights)
        got = run(subject, block.with_inputs(key_mask=keep), cotangent=cotangent, wrt=names).grads
        want = {name: torch.zeros_like(grad) for name, grad in got.items()}
        for b in range(case.B):
            real = slice(int(keep[b].sum()))
            alone = block.with_inputs(x=x[b : b + 1, real])
            grads = run(subject, alone, cotangent=cotangent[b : b + 1, real], wrt=names).grads
            want["x"][b, real] = grads["x"][0]
            for name in block.weights:
                want[name] += grads[name]
        unit = max(float(g.abs().max()) for g in want.values())
        for name in names:
            text = f"{what}: gradient of {name} with padding, against that of the sentences alone,"
            yield close(got[name], want[name], text, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)
