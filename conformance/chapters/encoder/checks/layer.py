"""Checks of the chapter spec/encoder.md: the call; one layer."""

import torch

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    attended_alone,
    each,
    ended,
    first_layer,
    loud,
    normed,
    one_layer,
    parts,
    renewed,
    silenced,
    trailing,
    unshifted,
    whole,
)
from attnconf.conformance.chapters.shared.layers import causality, run
from attnconf.conformance.chapters.shared.placements import BEFORE, PARALLEL, behind, placement_of
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, Failure, Unsupported, close, holds, identical
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def after_another_mask(subject: Subject, case: Case, block: Call, what: str) -> Evidence:
    """Yield the measure of the output with a mask after a call with another one, where masks work at all."""
    masked = block.with_inputs(key_mask=trailing(case))
    try:
        want = run(subject, masked).out
    except (Failure, Unsupported):
        return
    if bool(want.isfinite().all()):
        earlier = {**block.inputs, "key_mask": torch.ones_like(trailing(case))}
        got = run(subject, masked, before=(earlier,)).out
        yield close(got, want, f"{what}: out after a call with another mask, against out without,")


@requirement("ENC-PRE-1", stimuli.ONE, stimuli.EDGES)
def a_pre_norm_layer_that_adds_nothing_is_the_identity(subject: Subject, case: Case) -> Evidence:
    block = silenced(case, one_layer(subject, case, "pre"), ATTENTION, NETWORK)
    got, x = run(subject, block).out, block.inputs["x"]
    what = "pre-norm: out with zeros in attn.out and ff.down, against "
    if "norm.weight" in block.weights:
        yield close(got, ended(subject, block, x), what + "the last norm of x,")
    else:
        yield identical(got, x, what + "x,")


@requirement("ENC-POST-1", stimuli.ONE, stimuli.EDGES)
def a_post_norm_layer_that_adds_nothing_norms_twice(subject: Subject, case: Case) -> Evidence:
    block = silenced(case, one_layer(subject, case, "post"), ATTENTION, NETWORK)
    block = block.with_weights({name.replace("norm1", "norm2"): w for name, w in parts(block, "norm1").items()})
    norm = f"{first_layer(block)}norm1"
    want = ended(subject, block, normed(subject, block, block.inputs["x"], norm, norm))
    what = "post-norm: out with zeros in attn.out and ff.down and two equal norms, against norm(norm(x)),"
    yield close(run(subject, block).out, want, what)


@requirement("ENC-NORM-1", stimuli.ONE)
def each_sublayer_has_its_own_norm(subject: Subject, case: Case) -> Evidence:
    """In post-norm order they stand in this order; else those of a silent sublayer have no effect, but for shifts."""
    for what, block in each(subject, case):
        if placement_of(block.config) == "post":
            names = (f"{first_layer(block)}norm1", f"{first_layer(block)}norm2")
            want = ended(subject, block, normed(subject, block, block.inputs["x"], *names))
            got = run(subject, silenced(case, block, ATTENTION, NETWORK)).out
            yield close(got, want, f"{what}: out with zeros in attn.out and ff.down, against norm2(norm1(x)),")
        elif placement_of(block.config) != "parallel":
            block = unshifted(block)
            for silent, idle in ((ATTENTION, ("norm1", "norm1_out")), (NETWORK, ("norm2", "norm2_out"))):
                alone = silenced(case, block, silent)
                other = {name: w.roll(1) for name, w in parts(block, *idle).items()}
                text = f"{what}: out with other weights in {idle[0]} and zeros in {silent}"
                yield close(run(subject, alone.with_weights(other)).out, run(subject, alone).out, text)


@requirement("ENC-ORDER-1", stimuli.ONE)
def the_network_gets_the_sum_of_input_and_attention(subject: Subject, case: Case) -> Evidence:
    """A token that is alone attends to itself, so what attention gives is known."""
    for what, block in each(subject, case):
        if placement_of(block.config) in PARALLEL:
            continue
        block, x, under = unshifted(block), block.inputs["x"][:, :1], first_layer(block)
        before = (f"{under}norm1",) * (placement_of(block.config) in BEFORE)
        after = [f"{under}{name}" for name in behind(block.config)[:1]]
        attended = attended_alone(block, normed(subject, block, x, *before))
        summed = x + normed(subject, block, attended, *after)
        want = run(subject, silenced(case, block, ATTENTION).with_inputs(x=summed)).out
        got = run(subject, block.with_inputs(x=x)).out
        yield close(got, want, f"{what}: out of a token alone, against that of x + attention with zeros in attn.out,")


@requirement("ENC-TOKEN-1", stimuli.ONE)
def without_attention_tokens_are_by_themselves(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        block, kept = silenced(case, block, ATTENTION), case.L // 2
        x = renewed(case, block.inputs["x"], *(t for t in range(case.L) if t != kept))
        got, want = run(subject, block.with_inputs(x=x)).out[:, kept], run(subject, block).out[:, kept]
        yield close(got, want, f"{what}: out of token {kept} with others beside it and zeros in attn.out")


@requirement("ENC-BATCH-1", stimuli.BATCHES, any_weights=True)
def a_sample_does_not_depend_on_the_batch(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        out = run(subject, block).out
        for b in (0, case.B - 1):
            got = run(subject, block.with_inputs(x=block.inputs["x"][b : b + 1])).out[0]
            yield close(got, out[b], f"{what}: out of sample {b} alone")


@requirement("ENC-REACH-1", stimuli.ONE)
def every_token_reaches_every_other(subject: Subject, case: Case) -> Evidence:
    """Or every later one, where the subject is always causal."""
    for what, block in each(subject, case.but(regime="uniform")):
        out = run(subject, block).out
        for source in (0, case.L - 1):
            other = run(subject, block.with_inputs(x=renewed(case, block.inputs["x"], source))).out
            moved = (other - out).abs().amax(dim=-1) > SEMANTIC * out.abs().max()
            reached = moved[:, source:] if causality(subject) else moved
            yield holds(bool(reached.all()), f"{what}: a token's output does not depend on token {source}")


@requirement("ENC-PERM-1", stimuli.ONE, any_weights=True)
def permuting_the_tokens_permutes_the_output(subject: Subject, case: Case) -> Evidence:
    order = case.permutation("tokens", case.L)
    for what, block in each(subject, case, whole):
        got = run(subject, block.with_inputs(x=block.inputs["x"][:, order])).out
        yield close(got, run(subject, block).out[:, order], f"{what}: out of permuted tokens, against permuted out,")


@requirement("ENC-CAUSAL-1", stimuli.ONE, any_weights=True)
def a_causal_layer_does_not_look_ahead(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        block, x = loud(block).with_config(causal=True), block.inputs["x"]
        out = run(subject, block).out
        for t in (1, case.L - 1):
            got = run(subject, block.with_inputs(x=x[:, :t])).out
            yield close(got, out[:, :t], f"{what}, causal: out of the first {t} tokens alone")
        if not causality(subject):
            first = run(subject, block.with_config(causal=False).with_inputs(x=x[:, :1])).out
            yield close(out[:, :1], first, f"{what}, causal: out of the first token, against it alone and not causal,")
