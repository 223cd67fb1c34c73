"""Checks of the chapter spec/encoder.md.

A law of one layer is judged on a layer, and, where the component is a stack, on a stack of one; in every order of norm
and sublayer that the subject has.
"""

from dataclasses import replace
from functools import partial
from itertools import product

import torch
from torch import Tensor

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    as_configured,
    attended_alone,
    compare_all,
    each,
    ended,
    explicit,
    first_layer,
    in_budget,
    in_formula,
    in_layer,
    is_stack,
    loud,
    normed,
    one_layer,
    order_name,
    parts,
    renewed,
    repadded,
    scattered,
    silenced,
    three_layers,
    trailing,
    where_supported,
    whole,
)
from attnconf.conformance.chapters.encoder.torch_layers import encoder_in_torch, expressible
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import causality, endings, masked_if_taken, orders, padding, run
from attnconf.conformance.chapters.shared.learning import (
    LEARNED,
    STEPS,
    WORDS,
    Task,
    accuracy_of,
    copy,
    guess,
    recall,
    reverse,
    sort,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import (
    SEMANTIC,
    SINGLE,
    SINGLE_SOURCE,
    Failure,
    Measure,
    Unsupported,
    close,
    holds,
    identical,
)
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

UNPLACED = 0.5  # of the words: who knows which there are, but not where, says the most frequent, and hits 38.6 %
FORESEEN = 0.15  # of random words: 1 of 8 is hit by chance, and 5 standard deviations are 2.3 %
ALL_BUT_NONE = 1 - 1e-12  # a probability of dropout at which nothing is kept, and 1 - p can still be divided by


# -- the call


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


# -- one layer


@requirement("ENC-PRE-1", stimuli.ONE, stimuli.EDGES)
def a_pre_norm_layer_that_adds_nothing_is_the_identity(subject: Subject, case: Case) -> Evidence:
    block = silenced(one_layer(subject, case, norm_first=True), ATTENTION, NETWORK)
    got, x = run(subject, block).out, block.inputs["x"]
    what = "pre-norm: out with zeros in attn.out and ff.down, against "
    if "norm.weight" in block.weights:
        yield close(got, ended(subject, block, x), what + "the last norm of x,")
    else:
        yield identical(got, x, what + "x,")


@requirement("ENC-POST-1", stimuli.ONE, stimuli.EDGES)
def a_post_norm_layer_that_adds_nothing_norms_twice(subject: Subject, case: Case) -> Evidence:
    block = silenced(one_layer(subject, case, norm_first=False), ATTENTION, NETWORK)
    block = block.with_weights({name.replace("norm1", "norm2"): w for name, w in parts(block, "norm1").items()})
    norm = f"{first_layer(block)}norm1"
    want = ended(subject, block, normed(subject, block, block.inputs["x"], norm, norm))
    what = "post-norm: out with zeros in attn.out and ff.down and two equal norms, against norm(norm(x)),"
    yield close(run(subject, block).out, want, what)


@requirement("ENC-NORM-1", stimuli.ONE)
def each_sublayer_has_its_own_norm(subject: Subject, case: Case) -> Evidence:
    """In pre-norm order the norm of a silent sublayer has no effect; in post-norm order they stand in this order."""
    for what, block in each(subject, case):
        if block.config.norm_first:
            for silent, idle in ((ATTENTION, "norm1"), (NETWORK, "norm2")):
                alone = silenced(block, silent)
                other = {name: w.roll(1) for name, w in parts(block, idle).items()}
                text = f"{what}: out with other weights in {idle} and zeros in {silent}"
                yield close(run(subject, alone.with_weights(other)).out, run(subject, alone).out, text)
        else:
            names = (f"{first_layer(block)}norm1", f"{first_layer(block)}norm2")
            want = ended(subject, block, normed(subject, block, block.inputs["x"], *names))
            got = run(subject, silenced(block, ATTENTION, NETWORK)).out
            yield close(got, want, f"{what}: out with zeros in attn.out and ff.down, against norm2(norm1(x)),")


@requirement("ENC-ORDER-1", stimuli.ONE)
def the_network_gets_the_sum_of_input_and_attention(subject: Subject, case: Case) -> Evidence:
    """A token that is alone attends to itself, so what attention gives is known."""
    for what, block in each(subject, case):
        x = block.inputs["x"][:, :1]
        attending = normed(subject, block, x, f"{first_layer(block)}norm1") if block.config.norm_first else x
        summed = x + attended_alone(block, attending)
        want = run(subject, silenced(block, ATTENTION).with_inputs(x=summed)).out
        got = run(subject, block.with_inputs(x=x)).out
        yield close(got, want, f"{what}: out of a token alone, against that of x + attention with zeros in attn.out,")


@requirement("ENC-TOKEN-1", stimuli.ONE)
def without_attention_tokens_are_by_themselves(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        block, kept = silenced(block, ATTENTION), case.L // 2
        x = renewed(case, block.inputs["x"], *(t for t in range(case.L) if t != kept))
        got, want = run(subject, block.with_inputs(x=x)).out[:, kept], run(subject, block).out[:, kept]
        yield close(got, want, f"{what}: out of token {kept} with others beside it and zeros in attn.out")


@requirement("ENC-BATCH-1", stimuli.BATCHES)
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


@requirement("ENC-PERM-1", stimuli.ONE)
def permuting_the_tokens_permutes_the_output(subject: Subject, case: Case) -> Evidence:
    order = case.permutation("tokens", case.L)
    for what, block in each(subject, case, whole):
        got = run(subject, block.with_inputs(x=block.inputs["x"][:, order])).out
        yield close(got, run(subject, block).out[:, order], f"{what}: out of permuted tokens, against permuted out,")


@requirement("ENC-CAUSAL-1", stimuli.ONE)
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


# -- padding and masks


@requirement("ENC-PAD-1", stimuli.BATCHES)
def padding_does_not_reach_real_tokens(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        x = block.inputs["x"]
        for keep, poison in ((trailing(case), 1e4 * x.sign()), (scattered(case), 3 * case.draw("padding", *x.shape))):
            masked = loud(block).with_inputs(key_mask=keep)
            want = run(subject, masked).out[keep]
            got = run(subject, masked.with_inputs(x=torch.where(keep[..., None], x, poison))).out[keep]
            yield close(got, want, f"{what}: out of real tokens with other padding")


@requirement("ENC-ALONE-1", stimuli.BATCHES)
def a_padded_sentence_gives_what_it_gives_alone(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    for what, block in each(subject, case):
        out, x = run(subject, block.with_inputs(key_mask=keep)).out, block.inputs["x"]
        for b in sorted({1 % case.B, 2 % case.B}):
            length = int(keep[b].sum())
            want = run(subject, block.with_inputs(x=x[b : b + 1, :length])).out[0]
            yield close(out[b, :length], want, f"{what}: out of {length} tokens, padded, against unpadded,")


@requirement("ENC-LENGTH-1", stimuli.ONE)
def the_output_is_as_long_as_the_input_and_finite(subject: Subject, case: Case) -> Evidence:
    """Also where the last tokens are padding in all samples, or the first ones, where that leaves every query a key."""
    longer = case.draw("longer", case.B, case.L + 3, case.width)
    keep = padding(case, case.L + 3, (case.L, case.L - 2))
    masks = {"end": keep} if causality(subject) else {"end": keep, "beginning": keep.flip(1)}
    for what, block in each(subject, case, whole):
        for side, mask in masks.items():
            out = run(subject, block.with_inputs(x=longer, key_mask=mask)).out
            yield holds(bool(out.isfinite().all()), f"{what}, padded at the {side}: out is not finite", "nonfinite")


@requirement("ENC-EMPTY-1", stimuli.ONE)
def a_sample_of_padding_does_not_change_the_others(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case).roll(-1, dims=0)
    empty = keep.clone()
    empty[-1] = False
    for what, block in each(subject, case, whole):
        want, got = (run(subject, block.with_inputs(key_mask=mask)).out[:-1][keep[:-1]] for mask in (keep, empty))
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


# -- a stack


@requirement("ENC-OWN-1", stimuli.ONE)
def every_layer_has_weights_of_its_own(subject: Subject, case: Case) -> Evidence:
    for what, block in list(each(subject, case, three_layers))[-1:]:
        want = run(subject, block).out
        for i, part in product(range(3), ("attn", "ff", "norm1", "norm2")):
            other = {name: w.roll(1, dims=0) for name, w in parts(block, f"layers.{i}.{part}").items()}
            moved = float((run(subject, block.with_weights(other)).out - want).abs().max())
            message = f"{what}: other weights in layers.{i}.{part} have no effect"
            yield holds(moved > SEMANTIC * float(want.abs().max()), message)


@requirement("ENC-STACK-1", stimuli.ONE)
def a_stack_is_its_layers_one_after_another(subject: Subject, case: Case) -> Evidence:
    for norm_first, layers in product(orders(subject), (2, 3)):
        block = blocks.encoder(subject, case, norm_first, False, layers)
        x = block.inputs["x"]
        for i in range(layers):
            one = replace(block, weights=in_layer(block, i), inputs={"x": x}).with_config(num_layers=1)
            x = run(subject, one).out
        what = f"{order_name(norm_first)}: out of {layers} layers, against one after another,"
        yield close(run(subject, block).out, x, what)


@requirement("ENC-FINAL-1", stimuli.ONE)
def the_last_norm_comes_last(subject: Subject, case: Case) -> Evidence:
    for norm_first in orders(subject):
        block = silenced(blocks.encoder(subject, case, norm_first, True, 2), ATTENTION, NETWORK)
        inner = () if norm_first else ("layers.0.norm1", "layers.0.norm2", "layers.1.norm1", "layers.1.norm2")
        want = normed(subject, block, block.inputs["x"], *inner, "norm")
        what = f"{order_name(norm_first)}: out of two layers that add nothing, with a last norm,"
        yield close(run(subject, block).out, want, what)


# -- modes and training


@requirement("ENC-MODE-2", stimuli.EVEN)
def every_mode_gives_the_same_with_padding(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    for what, block in each(subject, case, whole):
        masked = block.with_inputs(key_mask=keep)
        want = run(subject, masked).out[keep]
        for training, mode in stimuli.MODES:
            got = run(subject, masked.with_config(training=training), mode=mode).out[keep]
            text = f"{what}, {'training' if training else 'evaluation'}, {mode}: out"
            yield close(got, want, text, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("ENC-DROP-1", stimuli.ONE)
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
        trained = run(subject, block.with_config(dropout=ALL_BUT_NONE, training=True), seed=1).out
        if torch.equal(trained, run(subject, block).out):
            yield Measure()
            continue
        want = run(subject, silenced(block, ATTENTION, NETWORK)).out
        yield close(trained, want, f"{what}: out in training where all is dropped, against out with nothing added,")


@requirement("ENC-GRAD-1", stimuli.ONE)
def gradients_reach_input_and_weights(subject: Subject, case: Case) -> Evidence:
    """But for the key's bias, which has no effect."""
    cotangent = case.draw("cotangent", case.B, case.L, case.width)
    for what, block in each(subject, case, whole):
        names = ("x", *(name for name in block.weights if not name.endswith("attn.k.bias")))
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


# -- everything at once


@requirement("ENC-ORACLE-1", stimuli.USUAL, stimuli.EDGES)
def outputs_and_gradients_of_a_layer_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-ORACLE-2", stimuli.ONE)
def outputs_and_gradients_of_a_stack_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for norm_first, final_norm in product(orders(subject), endings(subject)):
        block = blocks.encoder(subject, case, norm_first, final_norm, 2)
        what = f"{order_name(norm_first)}, {'with a' if final_norm else 'no'} last norm"
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-TORCH-1", stimuli.WIDE)
def outputs_and_gradients_are_those_of_torch_with_padding_too(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        encode = encoder_in_torch if expressible(block.config) else in_formula
        yield from compare_all(subject, case, block, encode, what)
        masked = masked_if_taken(subject, block, key_mask=trailing(case))
        if masked is not block:
            yield from compare_all(subject, case, masked, encode, what)


# -- other configurations


@requirement("ENC-EPS-1", stimuli.ONE)
def eps_reaches_every_norm(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        yield as_configured(subject, case, block.with_config(eps=1.0), f"{what}, eps = 1")


@requirement("ENC-ACT-1", stimuli.ONE)
def the_activation_reaches_the_network(subject: Subject, case: Case) -> Evidence:
    what, block = list(each(subject, case, whole))[-1]
    yield from where_supported(
        partial(as_configured, subject, case, block.with_config(activation=name), f"{what}, {name}")
        for name in ("relu", "gelu", "gelu-tanh", "silu")
    )


@requirement("ENC-KIND-1", stimuli.ONE)
def kind_of_norm_and_gate_reach_every_layer(subject: Subject, case: Case) -> Evidence:
    yield from where_supported(
        partial(as_configured, subject, case, other_kind(subject, case, norm, gated), f"{norm} norm, gated: {gated}")
        for norm, gated in product(("layer", "rms"), (False, True))
    )


def other_kind(subject: Subject, case: Case, norm: str, gated: bool) -> Call:
    """Return a block with this kind of norm, gated or not, and the weights that it needs."""
    block = whole(subject, case, orders(subject)[-1]).with_config(norm=norm, gated=gated)
    if is_stack(subject):
        weights = blocks.stack_weights(case, block.config, 2, blocks.encoder_layer_weights)
    else:
        weights = blocks.encoder_layer_weights(case, block.config)
    return replace(block, weights=weights)


@requirement("ENC-BIAS-1", stimuli.ONE)
def no_bias_is_a_bias_of_zero(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        zeros = {name: torch.zeros_like(w) for name, w in block.weights.items() if name.endswith(".bias")}
        bare = replace(block, weights={n: w for n, w in block.weights.items() if n not in zeros})
        got, want = run(subject, bare.with_config(bias=False)).out, run(subject, block.with_weights(zeros)).out
        yield close(got, want, f"{what}: out with bias=False, against zero biases,")


# -- half precision


@requirement("ENC-HALF-1", stimuli.EVEN)
def errors_of_half_precision_are_those_of_rounding(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        rounded = case.but(dtype=dtype)
        for _, block in each(subject, rounded, whole):
            yield in_budget(subject, rounded, block)


# -- learning


def trained(subject: Subject, case: Case, norm_first: bool) -> Call:
    return blocks.encoder(subject, case, norm_first, endings(subject)[-1])


def learns(subject: Subject, case: Case, *tasks: Task) -> Evidence:
    """Yield that each task is learned, in each order of norm and sublayer."""
    for norm_first, task in product(orders(subject), tasks):
        got = accuracy_of(subject, case, trained(subject, case, norm_first), task)
        rate = f"{100 * got:.1f} % of new words are right"
        words = f"{order_name(norm_first)}: after {STEPS} steps of {task.__name__} {rate}"
        yield holds(got >= LEARNED, f"{words}, want {100 * LEARNED:g} %")


@requirement("ENC-LEARN-1", stimuli.LEARN)
def it_learns_what_takes_positions(subject: Subject, case: Case) -> Evidence:
    yield from learns(subject, case, copy, reverse, sort)


@requirement("ENC-LEARN-2", stimuli.LEARN)
def it_learns_to_recall(subject: Subject, case: Case) -> Evidence:
    yield from learns(subject, case, recall)


@requirement("ENC-LEARN-3", stimuli.LEARN)
def it_learns_no_order_without_positions(subject: Subject, case: Case) -> Evidence:
    for task in (copy, reverse, sort):
        got = accuracy_of(subject, case, trained(subject, case, orders(subject)[-1]), task, places=False)
        words = f"without positions, after {STEPS} steps of {task.__name__}, {100 * got:.1f} % of new words are right"
        yield holds(got <= UNPLACED, f"{words}, want at most {100 * UNPLACED:g} %")


@requirement("ENC-LEARN-4", stimuli.LEARN)
def it_cannot_know_the_next_word(subject: Subject, case: Case) -> Evidence:
    got = accuracy_of(subject, case, trained(subject, case, orders(subject)[-1]).with_config(causal=True), guess)
    words = f"{100 * got:.1f} % of random words are foreseen, where chance hits {100 / WORDS:g} %"
    yield holds(got <= FORESEEN, f"{words}, want at most {100 * FORESEEN:g} %")
