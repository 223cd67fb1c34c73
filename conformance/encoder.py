"""Checks of the chapter spec/encoder.md.

A law of one layer is judged on a layer, and, where the component is a stack, on a stack of one; in every order of norm
and sublayer that the subject has.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance import blocks
from attnconf.conformance.blocks import Block, Weights, causality, endings, orders, padding, run
from attnconf.conformance.cases import Case
from attnconf.conformance.checks import requirement
from attnconf.conformance.conventions import layer_weights
from attnconf.conformance.door import slopes
from attnconf.conformance.evidence import SEMANTIC, Measure, Unsupported, close, holds, identical
from attnconf.conformance.layers_in_torch import encoder_in_torch, expressible
from attnconf.conformance.numerics import error_budget, worst
from attnconf.conformance.subject import Subject
from attnconf.reference import encoder as formula
from attnconf.reference.masks import causal

Evidence = Iterator[Measure]
ATTENTION, NETWORK = "attn.out", "ff.down"  # the last linear layers of the two sublayers
ALL_BUT_NONE = 1 - 1e-12  # a probability of dropout at which nothing is kept, and 1 - p can still be divided by
# Two paths in float32 differ by rounding; so do gradients that float32 code sums over the whole batch.
SINGLE, SINGLE_SOURCE = 1e-5, "1e-5·max|want|: 80 roundings of float32"


# -- what is asked


def is_stack(subject: Subject) -> bool:
    return subject.component == "encoder"


def one_layer(subject: Subject, case: Case, norm_first: bool) -> Block:
    """Return a layer, or a stack of one."""
    if is_stack(subject):
        return blocks.encoder(subject, case, norm_first, endings(subject)[0], layers=1)
    return blocks.encoder_layer(subject, case, norm_first)


def whole(subject: Subject, case: Case, norm_first: bool, layers: int = 2) -> Block:
    """Return a layer, or a stack of several."""
    if is_stack(subject):
        return blocks.encoder(subject, case, norm_first, endings(subject)[-1], layers)
    return blocks.encoder_layer(subject, case, norm_first)


def each(subject: Subject, case: Case, build: Callable[..., Block] = one_layer) -> Iterator[tuple[str, Block]]:
    """Yield what is built, once in every order that the subject has, with the order's name."""
    for norm_first in orders(subject):
        yield "pre-norm" if norm_first else "post-norm", build(subject, case, norm_first)


def parts(block: Block, *names: str) -> Weights:
    """Return the weights of the named parts, of every layer: "attn.out" has attn.out.weight and attn.out.bias."""
    return {n: w for n, w in block.weights.items() if any(f".{name}." in f".{n}" for name in names)}


def silenced(block: Block, *names: str) -> Block:
    """Return the block with zeros for the weights of the named parts."""
    return block.weighing({name: torch.zeros_like(w) for name, w in parts(block, *names).items()})


def layer_of(block: Block, i: int) -> Weights:
    """Return the weights of layer i by their names within it, or of the only layer."""
    return formula.under(block.weights, f"layers.{i}") if hasattr(block.config, "num_layers") else dict(block.weights)


def renewed(case: Case, x: Tensor, *tokens: int) -> Tensor:
    """Return x with other features in the given tokens, in all samples."""
    other = x.clone()
    other[:, list(tokens)] = case.draw("other tokens", *x.shape)[:, list(tokens)]
    return other


# -- closed forms


def style_of(block: Block, choice: Callable[[str], str]) -> formula.Style:
    c = block.config
    return formula.Style(c.num_heads, c.norm_first, c.norm, c.eps, c.activation)


def normed(subject: Subject, block: Block, x: Tensor, name: str) -> Tensor:
    """Return x after the norm whose weights stand under this name in the block."""
    weights = layer_weights(block.weights, block.config, subject.choice)
    return formula.normed(x, weights, name, style_of(block, subject.choice))


def ended(subject: Subject, block: Block, x: Tensor) -> Tensor:
    """Return x after the stack's last norm, where the block has one."""
    return normed(subject, block, x, "norm") if "norm.weight" in block.weights else x


def attended_alone(block: Block, x: Tensor) -> Tensor:
    """Return what attention gives for tokens (B, 1, E) that are alone: their own values, through both projections."""
    w = formula.under(layer_of(block, 0), "attn")
    values = x @ w["v.weight"].T + w.get("v.bias", torch.zeros_like(x[0, 0]))
    return values @ w["out.weight"].T + w.get("out.bias", torch.zeros_like(x[0, 0]))


# -- the call


@requirement("ENC-SHAPE-1", "encoder", "encoder-edges")
def the_output_has_the_shape_of_the_input(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        out, x = run(subject, block).out, block.inputs["x"]
        yield holds(out.shape == x.shape, f"{what}: out has shape {tuple(out.shape)}, want {tuple(x.shape)}", "shape")


@requirement("ENC-DTYPE-1", "encoder-one")
def the_output_has_the_dtype_of_the_input(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        for what, block in each(subject, case.but(dtype=dtype)):
            got = run(subject, block).out.dtype
            yield holds(got == dtype, f"{what}: out is {got} where x and the weights are {dtype}", "dtype")


@requirement("ENC-IMMUT-1", "encoder-one")
def input_and_weights_are_left_as_they_were(subject: Subject, case: Case) -> Evidence:
    for mode in ("plain", "no_grad"):
        for what, block in each(subject, case, whole):
            changed = run(subject, block, mode=mode).changed
            yield holds(not changed, f"{what}: modified in place: {', '.join(changed)}")


@requirement("ENC-REPEAT-1", "encoder-one")
def a_call_does_not_depend_on_earlier_ones(subject: Subject, case: Case) -> Evidence:
    width = case.H * case.E
    for what, block in each(subject, case, whole):
        want = run(subject, block).out
        for length in (case.L, case.L + 2, case.L - 2):
            earlier = {"x": case.draw(f"earlier {length}", case.B, length, width)}
            got = run(subject, block, before=(earlier,)).out
            yield close(got, want, f"{what}: out after a call with {length} tokens, against out without,")


# -- one layer


@requirement("ENC-PRE-1", "encoder", "encoder-edges")
def a_pre_norm_layer_that_adds_nothing_is_the_identity(subject: Subject, case: Case) -> Evidence:
    block = silenced(one_layer(subject, case, norm_first=True), ATTENTION, NETWORK)
    got, x = run(subject, block).out, block.inputs["x"]
    what = "pre-norm: out with zeros in attn.out and ff.down, against "
    if "norm.weight" in block.weights:
        yield close(got, ended(subject, block, x), what + "the last norm of x,")
    else:
        yield identical(got, x, what + "x,")


@requirement("ENC-POST-1", "encoder", "encoder-edges")
def a_post_norm_layer_that_adds_nothing_norms_twice(subject: Subject, case: Case) -> Evidence:
    block = silenced(one_layer(subject, case, norm_first=False), ATTENTION, NETWORK)
    first = "layers.0.norm1" if is_stack(subject) else "norm1"
    same = {name.replace("norm1", "norm2"): w for name, w in parts(block, "norm1").items()}
    block = block.weighing(same)
    once = normed(subject, block, block.inputs["x"], first)
    want = ended(subject, block, normed(subject, block, once, first))
    what = "post-norm: out with zeros in attn.out and ff.down and two equal norms, against norm(norm(x)),"
    yield close(run(subject, block).out, want, what)


@requirement("ENC-NORM-1", "encoder")
def each_sublayer_has_its_own_norm(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        for silent, idle in ((ATTENTION, "norm1"), (NETWORK, "norm2")) if block.config.norm_first else ():
            alone = silenced(block, silent)
            other = {name: w.roll(1) for name, w in parts(block, idle).items()}
            got = run(subject, alone.weighing(other)).out
            text = f"{what}: out with other weights in {idle} and zeros in {silent}"
            yield close(got, run(subject, alone).out, text)
        if not block.config.norm_first:
            under = "layers.0." if is_stack(subject) else ""
            once = normed(subject, block, block.inputs["x"], f"{under}norm1")
            want = ended(subject, block, normed(subject, block, once, f"{under}norm2"))
            got = run(subject, silenced(block, ATTENTION, NETWORK)).out
            yield close(got, want, f"{what}: out with zeros in {ATTENTION} and {NETWORK}, against norm2(norm1(x)),")


@requirement("ENC-ORDER-1", "encoder")
def the_network_gets_the_sum_of_input_and_attention(subject: Subject, case: Case) -> Evidence:
    """A token that is alone attends to itself, so what attention gives is known."""
    for what, block in each(subject, case):
        x = block.inputs["x"][:, :1]
        under = "layers.0." if is_stack(subject) else ""
        attending = normed(subject, block, x, f"{under}norm1") if block.config.norm_first else x
        summed = x + attended_alone(block, attending)
        want = run(subject, silenced(block, ATTENTION).feeding(x=summed)).out
        got = run(subject, block.feeding(x=x)).out
        yield close(
            got, want, f"{what}: out of a token x alone, against that of x + attention(x) with zeros in attn.out,"
        )


@requirement("ENC-TOKEN-1", "encoder")
def without_attention_tokens_are_by_themselves(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        block, kept = silenced(block, ATTENTION), case.L // 2
        x = renewed(case, block.inputs["x"], *(t for t in range(case.L) if t != kept))
        got, want = run(subject, block.feeding(x=x)).out[:, kept], run(subject, block).out[:, kept]
        yield close(got, want, f"{what}: out of token {kept} with others beside it and zeros in attn.out")


@requirement("ENC-BATCH-1", "encoder", "encoder-batches")
def a_sample_does_not_depend_on_the_batch(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        out = run(subject, block).out
        for b in (0, case.B - 1):
            got = run(subject, block.feeding(x=block.inputs["x"][b : b + 1])).out[0]
            yield close(got, out[b], f"{what}: out of sample {b} alone")


@requirement("ENC-REACH-1", "encoder")
def every_token_reaches_every_later_one_and_every_earlier_one(subject: Subject, case: Case) -> Evidence:
    """Or every later one only, where the subject is always causal."""
    for what, block in each(subject, case.but(regime="uniform")):
        out = run(subject, block).out
        for source in (0, case.L - 1):
            other = run(subject, block.feeding(x=renewed(case, block.inputs["x"], source))).out
            moved = (other - out).abs().amax(dim=-1) > SEMANTIC * out.abs().max()
            reached = moved[:, source:] if causality(subject) else moved
            yield holds(bool(reached.all()), f"{what}: a token's output does not depend on token {source}")


@requirement("ENC-PERM-1", "encoder")
def permuting_the_tokens_permutes_the_output(subject: Subject, case: Case) -> Evidence:
    order = case.permutation("tokens", case.L)
    for what, block in each(subject, case, whole):
        got = run(subject, block.feeding(x=block.inputs["x"][:, order])).out
        yield close(got, run(subject, block).out[:, order], f"{what}: out of permuted tokens, against permuted out,")


@requirement("ENC-CAUSAL-1", "encoder")
def a_causal_layer_does_not_look_ahead(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        block, x = block.sized(causal=True), block.inputs["x"]
        out = run(subject, block).out
        for t in (1, case.L - 1):
            got = run(subject, block.feeding(x=x[:, :t])).out
            yield close(got, out[:, :t], f"{what}, causal: out of the first {t} tokens alone")
        if not causality(subject):
            first = run(subject, block.sized(causal=False).feeding(x=x[:, :1])).out
            yield close(
                out[:, :1], first, f"{what}, causal: out of the first token, against that of it alone, not causal,"
            )


# -- padding and masks


def trailing(case: Case) -> Tensor:
    """Return a key mask (B, L) that keeps all tokens of the first sample, and some at the beginning of the others."""
    return padding(case, case.L, (case.L, case.L - 2, case.L - 1))


def scattered(case: Case) -> Tensor:
    """Return a key mask (B, L) that hides tokens anywhere but at the beginning, differently in each sample."""
    keep = trailing(case).flip(1).roll(1, dims=1)
    keep[:, 0] = True
    return keep


def poisons(case: Case, x: Tensor) -> Iterator[Tensor]:
    """Yield other inputs to put where padding is."""
    yield 1e4 * x.sign()
    yield 3 * case.draw("other padding", *x.shape)


def loud(block: Block) -> Block:
    """Return the block with scores so large that a token is not hidden by subtracting a hundred from its score."""
    return block.weighing({name: 40 * w for name, w in parts(block, "attn.k").items()})


def unmoved_by_padding(subject: Subject, case: Case, block: Block, keep: Tensor, what: str) -> Evidence:
    """Yield the measures of the outputs of real tokens with other numbers in the padding."""
    masked, x = block.feeding(key_mask=keep), block.inputs["x"]
    want = run(subject, masked).out[keep]
    for poison in poisons(case, x):
        other = torch.where(keep[..., None], x, poison)
        got = run(subject, masked.feeding(x=other)).out[keep]
        yield close(got, want, f"{what}: out of real tokens with other padding")


@requirement("ENC-PAD-1", "encoder", "encoder-batches")
def padding_does_not_reach_real_tokens(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        for keep in (trailing(case), scattered(case)):
            yield from unmoved_by_padding(subject, case, loud(block), keep, what)


@requirement("ENC-ALONE-1", "encoder", "encoder-batches")
def a_padded_sentence_gives_what_it_gives_alone(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    for what, block in each(subject, case):
        out, x = run(subject, block.feeding(key_mask=keep)).out, block.inputs["x"]
        for b in range(1, case.B):
            length = int(keep[b].sum())
            want = run(subject, block.feeding(x=x[b : b + 1, :length])).out[0]
            yield close(
                out[b, :length], want, f"{what}: out of a sentence of {length} tokens, padded, against unpadded,"
            )


@requirement("ENC-LENGTH-1", "encoder-one")
def the_output_is_as_long_as_the_input_and_finite(subject: Subject, case: Case) -> Evidence:
    """Also where the last tokens are padding in all samples."""
    longer = case.draw("longer", case.B, case.L + 3, case.H * case.E)
    keep = padding(case, case.L + 3, (case.L, case.L - 2))
    for what, block in each(subject, case, whole):
        for side, mask in (("end", keep), ("beginning", keep.flip(1))) if not causality(subject) else (("end", keep),):
            out = run(subject, block.feeding(x=longer, key_mask=mask)).out
            yield holds(bool(out.isfinite().all()), f"{what}: out is not finite, padded at the {side}", "nonfinite")


@requirement("ENC-EMPTY-1", "encoder")
def a_sample_of_padding_does_not_change_the_others(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case).roll(-1, dims=0)
    empty = keep.clone()
    empty[-1] = False
    for what, block in each(subject, case, whole):
        want, got = (run(subject, block.feeding(key_mask=mask)).out[:-1][keep[:-1]] for mask in (keep, empty))
        yield close(got, want, f"{what}: out of the others where the last sample is padding only")


def explicit(case: Case) -> Tensor:
    """Return a mask (L, L) that lets every token see itself and the first one, and some others."""
    drawn = case.draw("attn_mask", case.L, case.L) > 0
    drawn[:, 0] = True
    return drawn | torch.eye(case.L, dtype=torch.bool, device=case.device)


@requirement("ENC-MASK-1", "encoder")
def an_explicit_mask_says_which_token_sees_which(subject: Subject, case: Case) -> Evidence:
    seen, source = explicit(case), case.L - 1
    seen[: case.L // 2, source] = False
    blind = ~seen[:, source]
    for what, block in each(subject, case):
        masked = loud(block).feeding(attn_mask=seen)
        other = masked.feeding(x=renewed(case, block.inputs["x"], source))
        got, want = (run(subject, b).out[:, blind] for b in (other, masked))
        yield close(got, want, f"{what}: out of tokens that do not see token {source}, with another one in its place")
        open_ = block.feeding(attn_mask=torch.ones_like(seen))
        yield close(run(subject, open_).out, run(subject, block).out, f"{what}: out with a mask that hides nothing")


@requirement("ENC-MASK-2", "encoder")
def a_sample_may_have_a_mask_of_its_own(subject: Subject, case: Case) -> Evidence:
    one = explicit(case)
    other = one.flip(0).logical_or(one)
    masks = torch.stack([other if b % 2 else one for b in range(case.B)])[:, None]
    for what, block in each(subject, case):
        out, x = run(subject, block.feeding(attn_mask=masks)).out, block.inputs["x"]
        for b in (0, 1):
            want = run(subject, block.feeding(x=x[b : b + 1], attn_mask=masks[b, 0])).out[0]
            yield close(
                out[b], want, f"{what}: out of sample {b} with a mask for each sample, against it alone with its own,"
            )


@requirement("ENC-MASK-3", "encoder")
def both_masks_hold_at_once(subject: Subject, case: Case) -> Evidence:
    seen, keep = explicit(case), trailing(case)
    seen[1:-1, -1] = False
    for what, block in each(subject, case):
        masked, x = block.feeding(attn_mask=seen, key_mask=keep), block.inputs["x"]
        want = run(subject, masked).out
        got = run(
            subject, masked.feeding(x=torch.where(keep[..., None], x, 3 * case.draw("other padding", *x.shape)))
        ).out
        yield close(got[keep], want[keep], f"{what}, both masks: out of real tokens with other padding")
        got = run(subject, masked.feeding(x=renewed(case, x, case.L - 1))).out[0, 1:-1]
        yield close(
            got, want[0, 1:-1], f"{what}, both masks: out of tokens that do not see the last, with another there"
        )


@requirement("ENC-DEPTH-1", "encoder-one")
def masks_reach_every_layer(subject: Subject, case: Case) -> Evidence:
    """What of several masks an adapter says it does not take is not asked."""
    supported, words = False, None
    for what, block in each(subject, case, lambda *given: whole(*given, layers=3)):
        x, first = block.inputs["x"], torch.ones(1, case.L, dtype=torch.bool, device=case.device)
        alone = first.clone().T & (torch.arange(case.L, device=case.device) == 0) | torch.eye(case.L, dtype=torch.bool)
        for name, masked, real in (
            ("key_mask", block.feeding(key_mask=trailing(case)), trailing(case)),
            ("attn_mask", block.feeding(attn_mask=alone), None),
            ("causal", block.sized(causal=True), None),
        ):
            keep = torch.arange(case.L, device=case.device) < case.L - 1 if real is None else real
            keep = keep.expand(case.B, case.L)
            other = torch.where(keep[..., None], x, 3 * case.draw("other padding", *x.shape))
            try:
                want, got = run(subject, masked).out[keep], run(subject, masked.feeding(x=other)).out[keep]
            except Unsupported as unsupported:
                words = unsupported
                continue
            supported = True
            yield close(got, want, f"{what}, {name}: out of three layers with other tokens where they are hidden")
    if words and not supported:
        raise words


# -- a stack


@requirement("ENC-OWN-1", "encoder-one")
def every_layer_has_weights_of_its_own(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, lambda *given: whole(*given, layers=3)):
        want = run(subject, block).out
        for i, part in product(range(3), ("attn", "ff", "norm1", "norm2")):
            other = {name: w.roll(1, dims=0) for name, w in parts(block, f"layers.{i}.{part}").items()}
            moved = float((run(subject, block.weighing(other)).out - want).abs().max())
            message = f"{what}: other weights in layers.{i}.{part} have no effect"
            yield holds(moved > SEMANTIC * float(want.abs().max()), message)


@requirement("ENC-STACK-1", "encoder-one")
def a_stack_is_its_layers_one_after_another(subject: Subject, case: Case) -> Evidence:
    for norm_first, layers in product(orders(subject), (1, 2, 3)):
        block = blocks.encoder(subject, case, norm_first, False, layers)
        x = block.inputs["x"]
        for i in range(layers):
            own = {f"layers.0.{name}": w for name, w in layer_of(block, i).items()}
            x = run(subject, Block(block.config, own, {"x": x}).sized(num_layers=1)).out
        yield close(run(subject, block).out, x, f"out of {layers} layers, against one after another,")


@requirement("ENC-FINAL-1", "encoder-one")
def the_last_norm_comes_last(subject: Subject, case: Case) -> Evidence:
    for norm_first in orders(subject):
        block = silenced(blocks.encoder(subject, case, norm_first, True, 2), ATTENTION, NETWORK)
        x = block.inputs["x"]
        for name in () if norm_first else ("layers.0.norm1", "layers.0.norm2", "layers.1.norm1", "layers.1.norm2"):
            x = normed(subject, block, x, name)
        what = f"{'pre' if norm_first else 'post'}-norm: out of two layers that add nothing, with a last norm,"
        yield close(run(subject, block).out, normed(subject, block, x, "norm"), what)


# -- modes and training


def in_every_mode(subject: Subject, case: Case, keep: Tensor | None) -> Evidence:
    """Yield the measures of the outputs of real tokens in training and evaluation, with and without gradients."""
    for dtype in (torch.float64, torch.float32):
        for what, block in each(subject, case.but(dtype=dtype), whole):
            masked = block if keep is None else block.feeding(key_mask=keep)
            real = slice(None) if keep is None else keep
            want = run(subject, masked).out[real]
            for training, mode in product((True, False), ("tracked", "no_grad", "inference_mode")):
                got = run(subject, masked.sized(training=training), mode=mode).out[real]
                text = f"{what}, {str(dtype).removeprefix('torch.')}, {'training' if training else 'evaluation'}, {mode}: out"
                yield close(got, want, text, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("ENC-MODE-1", "encoder-even")
def every_mode_gives_the_same(subject: Subject, case: Case) -> Evidence:
    yield from in_every_mode(subject, case, None)


@requirement("ENC-MODE-2", "encoder-even")
def every_mode_gives_the_same_with_padding(subject: Subject, case: Case) -> Evidence:
    yield from in_every_mode(subject, case, trailing(case))


@requirement("ENC-DROP-1", "encoder-one")
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        got = run(subject, block.sized(dropout=0.25), seed=1).out
        yield close(got, run(subject, block).out, f"{what}: out in evaluation with dropout, against out without,")


@requirement("ENC-DROP-2", "encoder-one")
def dropout_takes_what_is_added_and_not_the_residual(subject: Subject, case: Case) -> Evidence:
    """At a probability of nearly 1 nothing is added; a layer without dropout adds everything."""
    for what, block in each(subject, case):
        trained = run(subject, block.sized(dropout=ALL_BUT_NONE, training=True), seed=1).out
        if torch.equal(trained, run(subject, block).out):
            yield Measure()
            continue
        want = run(subject, silenced(block, ATTENTION, NETWORK)).out
        yield close(trained, want, f"{what}: out in training where all is dropped, against that with nothing added,")


@requirement("ENC-GRAD-1", "encoder-one")
def gradients_reach_input_and_weights(subject: Subject, case: Case) -> Evidence:
    """But for the key's bias, which has no effect."""
    cotangent = case.draw("cotangent", case.B, case.L, case.H * case.E)
    for what, block in each(subject, case, whole):
        names = ("x", *(name for name in block.weights if not name.endswith("attn.k.bias")))
        grads = run(subject, block, cotangent=cotangent, wrt=names).grads
        sizes = {name: float(grad.abs().max()) for name, grad in grads.items()}
        for name, size in sizes.items():
            yield holds(size > 1e-9 * max(sizes.values()), f"{what}: no gradient reaches {name}")


@requirement("ENC-GRAD-2", "encoder")
def padding_leaves_gradients_as_they_are(subject: Subject, case: Case) -> Evidence:
    keep = trailing(case)
    cotangent = case.draw("cotangent", case.B, case.L, case.H * case.E) * keep[..., None]
    for what, block in each(subject, case):
        x, names = block.inputs["x"], ("x", *block.weights)
        got = run(subject, block.feeding(key_mask=keep), cotangent=cotangent, wrt=names).grads
        want = {name: torch.zeros_like(got[name]) for name in names}
        for b in range(case.B):
            real = slice(int(keep[b].sum()))
            alone = block.feeding(x=x[b : b + 1, real])
            grads = run(subject, alone, cotangent=cotangent[b : b + 1, real], wrt=names).grads
            want["x"][b, real] = grads["x"][0]
            for name in block.weights:
                want[name] += grads[name]
        unit = max(float(g.abs().max()) for g in want.values())
        for name in names:
            text = f"{what}: gradient of {name} with padding, against that of the sentences alone,"
            yield close(got[name], want[name], text, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


# -- everything at once


def seen_by(block: Block) -> Tensor:
    """Return which token sees which, (B, L, L), by the masks and by causality."""
    x = block.inputs["x"]
    seen = torch.ones(len(x), x.shape[1], x.shape[1], dtype=torch.bool, device=x.device)
    if block.config.causal:
        seen = seen & causal(x.shape[1], x.shape[1]).to(x.device)
    if "key_mask" in block.inputs:
        seen = seen & block.inputs["key_mask"][:, None]
    return seen & block.inputs["attn_mask"] if "attn_mask" in block.inputs else seen


def in_formula(config: Any, weights: Weights, x: Tensor, seen: Tensor) -> Tensor:
    """Return the output of the reference."""
    style = formula.Style(config.num_heads, config.norm_first, config.norm, config.eps, config.activation)
    encode = formula.encoder if hasattr(config, "num_layers") else formula.encoder_layer
    return encode(x, weights, style, seen[:, None])


Formula = Callable[[Any, Weights, Tensor, Tensor], Tensor]


def with_gradients(subject: Subject, block: Block, encode: Formula, cotangent: Tensor) -> tuple[Tensor, Weights]:
    """Return the output by a formula, and its gradients with respect to x and all weights by name."""
    x = block.inputs["x"].clone().requires_grad_()
    weights = {name: w.clone().requires_grad_() for name, w in block.weights.items()}
    out = encode(block.config, layer_weights(weights, block.config, subject.choice), x, seen_by(block))
    leaves = {"x": x, **weights}
    return out.detach(), dict(zip(leaves, slopes([(out, cotangent)], list(leaves.values())), strict=True))


def compare_all(subject: Subject, case: Case, block: Block, encode: Formula, what: str) -> Evidence:
    """Yield the measures of output and gradients of real tokens against those of a formula."""
    keep = block.inputs.get("key_mask", torch.ones(case.B, case.L, dtype=torch.bool, device=case.device))
    cotangent = case.draw("cotangent", *block.inputs["x"].shape) * keep[..., None]
    declared = [subject.choice(c) for c in ("attention-scale", "rms-norm-weight", "glu-activated")]
    name = f"{encode.__name__} {block.config} {sorted(block.inputs)} {declared}"
    want, grads = case.once(name, lambda: with_gradients(subject, block, encode, cotangent))
    reply = run(subject, block, cotangent=cotangent, wrt=tuple(grads))
    yield close(reply.out[keep], want[keep], f"{what}: out")
    unit = max(float(g.abs().max()) for g in grads.values())  # that of k.bias is 0
    for name, grad in grads.items():
        text = f"{what}: gradient of {name}"
        yield close(reply.grads[name], grad, text, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("ENC-ORACLE-1", "encoder", "encoder-edges", "encoder-even")
def outputs_and_gradients_of_a_layer_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-ORACLE-2", "encoder", "encoder-even")
def outputs_and_gradients_of_a_stack_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for norm_first, final_norm in product(orders(subject), endings(subject)):
        block = blocks.encoder(subject, case, norm_first, final_norm, 2)
        what = f"{'pre' if norm_first else 'post'}-norm, {'with a' if final_norm else 'no'} last norm"
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-TORCH-1", "encoder-wide")
def outputs_and_gradients_are_those_of_torch_with_padding_too(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        encode = encoder_in_torch if expressible(block.config) else in_formula
        for masks in ({}, {"key_mask": trailing(case)}):
            yield from compare_all(subject, case, block.feeding(**masks), encode, what)


# -- other configurations


def as_configured(subject: Subject, block: Block, what: str) -> Measure:
    """Return the measure of the output against the reference's."""
    weights = layer_weights(block.weights, block.config, subject.choice)
    want = in_formula(block.config, weights, block.inputs["x"], seen_by(block))
    return close(run(subject, block).out, want, f"{what}: out")


def where_supported(measures: Iterator[Callable[[], Measure]]) -> Evidence:
    """Yield the measures of what is supported. Raises Unsupported where nothing is."""
    supported, words = False, None
    for measure in measures:
        try:
            yield measure()
            supported = True
        except Unsupported as unsupported:
            words = unsupported
    if words and not supported:
        raise words


@requirement("ENC-EPS-1", "encoder-one")
def eps_reaches_every_norm(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        yield as_configured(subject, block.sized(eps=1.0), f"{what}, eps = 1")


@requirement("ENC-ACT-1", "encoder-one")
def the_activation_reaches_the_network(subject: Subject, case: Case) -> Evidence:
    names = ("relu", "gelu", "gelu-tanh", "silu")
    yield from where_supported(
        lambda: as_configured(subject, block.sized(activation=name), f"{what}, {name}")
        for what, block in each(subject, case, whole)
        for name in names
    )


@requirement("ENC-BIAS-1", "encoder-one")
def no_bias_is_a_bias_of_zero(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        zeros = {name: torch.zeros_like(w) for name, w in block.weights.items() if name.endswith(".bias")}
        bare = Block(block.config, {n: w for n, w in block.weights.items() if n not in zeros}, block.inputs)
        got, want = run(subject, bare.sized(bias=False)).out, run(subject, block.weighing(zeros)).out
        yield close(got, want, f"{what}: out with bias=False, against zero biases,")


@requirement("ENC-KIND-1", "encoder-one")
def the_kind_of_norm_and_the_gate_reach_every_layer(subject: Subject, case: Case) -> Evidence:
    yield from where_supported(
        lambda: as_configured(subject, other_kind(subject, case, norm_first, norm, gated), f"{norm}, gated={gated}")
        for norm_first in orders(subject)
        for norm, gated in product(("layer", "rms"), (False, True))
    )


def other_kind(subject: Subject, case: Case, norm_first: bool, norm: str, gated: bool) -> Block:
    """Return a block with this kind of norm, gated or not, and the weights that it needs."""
    block = whole(subject, case, norm_first).sized(norm=norm, gated=gated)
    layers = 2 if is_stack(subject) else 0
    if layers:
        weights = blocks.stack_weights(case, block.config, layers, blocks.encoder_layer_weights)
    else:
        weights = blocks.encoder_layer_weights(case, block.config)
    return Block(block.config, weights, block.inputs)


# -- half precision


@requirement("ENC-HALF-1", "encoder-wide")
def errors_of_half_precision_are_those_of_rounding(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for what, block in each(subject, case.but(dtype=dtype), whole):
            yield in_budget(subject, case, block, f"{what}, {str(dtype).removeprefix('torch.')}")


def in_budget(subject: Subject, case: Case, block: Block, what: str) -> Measure:
    """Return the measure of the error against that of the reference in the same dtype, in two orders of its sums."""
    x, weights = block.inputs["x"], layer_weights(block.weights, block.config, subject.choice)
    exact = {name: w.double() for name, w in weights.items()}
    want = in_formula(block.config, exact, x.double(), seen_by(block))
    turned = case.permutation("hidden", case.F)
    order = {n: w[turned] if ".up" in f".{n}" or ".gate" in f".{n}" else w for n, w in weights.items()}
    order |= {n: w[:, turned] for n, w in weights.items() if n.endswith("ff.down.weight")}
    errors = [in_formula(block.config, w, x, seen_by(block)).double() - want for w in (weights, order)]
    sublayers = 2 * getattr(block.config, "num_layers", 1)
    return error_budget(run(subject, block).out, want, worst(errors), x.dtype, sublayers)
