"""Checks of the chapter spec/decoder.md. Each law is asked in every order of norm and sublayer that is declared.

A layer and a stack of them are judged by the same laws; ``blocks`` gives what the component is.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.decoder import stimuli
from attnconf.conformance.chapters.decoder.stimuli import (
    SUBLAYERS,
    chained,
    enlarged,
    foldable,
    folded,
    formula,
    in_torch,
    named,
    norms_alone,
    one_plus,
    only,
    scaled,
    silent,
    two_textbooks,
    without_effect,
)
from attnconf.conformance.chapters.shared.layers import (
    decoder,
    decoder_layer,
    endings,
    masked_if_taken,
    orders,
    padding,
    papers_norm,
    run,
    run_unless_refused,
    with_gradients,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget
from attnconf.conformance.engine.evidence import (
    SEMANTIC,
    SINGLE,
    SINGLE_SOURCE,
    Failure,
    Measure,
    close,
    holds,
    identical,
)
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def stacked(subject: Subject) -> bool:
    """Return whether the component is a stack."""
    return subject.offers("stack")


def blocks(subject: Subject, case: Case, layers: int = 1) -> Iterator[Call]:
    """Yield the component, in each order that it has: a layer, or a stack, without a last norm if that can be."""
    for norm_first in orders(subject):
        yield drawn(subject, case, norm_first, endings(subject)[0], layers)


def drawn(subject: Subject, case: Case, norm_first: bool, final_norm: bool, layers: int) -> Call:
    """Return a layer, or a stack: what the component is."""
    key = f"{subject.component} {norm_first} {final_norm} {layers} {sorted(subject.declares.items(), key=str)}"
    if stacked(subject):
        return case.once(key, lambda: decoder(subject, case, norm_first, final_norm, layers))
    return case.once(key, lambda: decoder_layer(subject, case, norm_first))


def order_of(block: Call) -> str:
    return "pre-norm" if block.config.norm_first else "post-norm"


def samples(block: Call, first: int, end: int | None = None) -> Call:
    """Return the block with some samples alone."""
    return block.with_inputs(**{name: x[first:end] for name, x in block.inputs.items()})


def run_both(subject: Subject, block: Call, other: Call) -> tuple[Tensor, Tensor]:
    """Return the outputs for the inputs of both, which are asked for in one batch."""
    both = {name: torch.cat([x, other.inputs[name]]) for name, x in block.inputs.items()}
    first, second = run(subject, block.with_inputs(**both)).out.chunk(2)
    return first, second


# -- the call


@requirement("DEC-BATCH-1", stimuli.BATCHES, any_weights=True)
def a_sample_does_not_depend_on_the_others(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        out = run(subject, block).out
        yield close(run(subject, samples(block, -1)).out, out[-1:], "out of the last sample alone, against all,")


# -- the layer


@requirement("DEC-ZERO-1", stimuli.ONE)
def a_pre_norm_layer_that_adds_nothing_is_the_identity(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case, layers=2):
        if block.config.norm_first:
            out, want = run(subject, silent(block, *SUBLAYERS)).out, block.inputs["x"]
            if not getattr(block.config, "final_norm", False):
                yield identical(out, want, "out of three sublayers that give 0, against the input,")
            else:
                yield close(out, norms_alone(subject, block), "out of sublayers that give 0, against the last norm,")


@requirement("DEC-ZERO-2", stimuli.ONE)
def a_post_norm_layer_that_adds_nothing_is_its_three_norms(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case, layers=2):
        if not block.config.norm_first:
            out = run(subject, silent(block, *SUBLAYERS)).out
            yield close(out, norms_alone(subject, block), "out of sublayers that give 0, against the norms alone,")


@requirement("DEC-NORM-1", stimuli.ONE)
def each_norm_stands_before_its_own_sublayer(subject: Subject, case: Case) -> Evidence:
    """Its gain and shift may as well be in the projections that read it, and nowhere else."""
    for block in blocks(subject, case):
        if block.config.norm_first:
            for i in (1, 2, 3):
                plain, what = foldable(block, i), f"out with norm{i}'s gain and shift moved into what reads it"
                yield close(run(subject, folded(subject, plain, i)).out, run(subject, plain).out, what)


@requirement("DEC-ORDER-1", stimuli.ONE)
def the_sublayers_follow_one_another(subject: Subject, case: Case) -> Evidence:
    """The layer is three layers of which each has one sublayer: to the targets, to the memory, feed-forward.

    The norms are alike and have been applied before: once more changes nothing but by ε, which is small here.
    """
    for block in blocks(subject, case):
        large = enlarged(subject, block)
        want = run(subject, large).out
        if stacked(subject):
            got = run(subject, chained(large)).out
        else:
            got = large.inputs["x"]
            for part in SUBLAYERS:
                got = run(subject, only(large, part).with_inputs(x=got)).out
        yield close(got, want, f"out of the sublayers one by one, against the {order_of(block)} layer,")


# -- the targets


def changed_one_by_one(block: Call, case: Case, name: str) -> Call:
    """Return the first sample as often as an input has tokens, in each with another token, and before these unchanged.

    Shapes:
        inputs of the result  (1 + T, …), T the length of the input of that name
    """
    x = block.inputs[name]
    T = x.shape[1]
    many = {other: y[:1].expand(1 + T, *y.shape[1:]).clone() for other, y in block.inputs.items()}
    at = torch.arange(T, device=x.device)
    many[name][1 + at, at] = case.draw(f"other {name}", T, x.shape[2])
    return block.with_inputs(**many)


@requirement("DEC-CAUSAL-1", stimuli.ONE, any_weights=True)
def later_targets_have_no_influence(subject: Subject, case: Case) -> Evidence:
    earlier = torch.arange(case.L)[:, None, None] > torch.arange(case.L)[:, None]
    for block in blocks(subject, case, layers=2):
        out = run(subject, changed_one_by_one(block, case, "x")).out
        got = torch.where(earlier.to(out.device), out[1:], out[:1])
        yield close(got, out[:1].expand_as(got), "out before the target that was changed, [target, position, feature],")


@requirement("DEC-CAUSAL-2", stimuli.ONE, stimuli.SQUARE)
def every_target_sees_itself_and_all_before_it(subject: Subject, case: Case) -> Evidence:
    """Also where the memory is padded, and as long as the targets."""
    for block in blocks(subject, case):
        if case.L == case.S:
            block = masked_if_taken(subject, block, memory_mask=padding(case, case.S, (2,)))
        out = run(subject, changed_one_by_one(block, case, "x")).out
        moved, unit = (out[1:] - out[:1]).abs().amax(dim=-1), float(out[0].abs().max())
        for s in range(case.L):
            for t in range(s, case.L):
                yield holds(bool(moved[s, t] > SEMANTIC * unit), f"target {t} does not see target {s}")
        values = {n: -w for n, w in block.weights.items() if named(n, "self.v.weight")}
        first = float((run(subject, block.with_weights(values)).out[0, 0] - out[0, 0]).abs().max())
        yield holds(first > SEMANTIC * unit, "the first target does not see itself: self.v.weight has no effect on it")


@requirement("DEC-PREFIX-1", stimuli.SHORT, any_weights=True)
def all_targets_at_once_give_what_they_give_one_by_one(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        out = run(subject, block).out
        for t in range(1, case.L):
            got = run(subject, block.with_inputs(x=block.inputs["x"][:, :t])).out[:, -1]
            yield close(got, out[:, t - 1], f"out of the last of {t} targets, against the same among {case.L},")


def holes(case: Case) -> Tensor:
    """Return a key mask (B, L) that hides one target of each sample, never the first: every row keeps a key."""
    hidden = 1 + torch.arange(case.B, device=case.device) % max(case.L - 2, 1)
    return torch.arange(case.L, device=case.device) != hidden[:, None]


def poisoned(x: Tensor, kept: Tensor) -> Tensor:
    """Return x, (B, T, E), with large numbers of either sign where it is not kept, (B, T)."""
    return torch.where(kept[..., None], x, 100 * torch.sign(x))


@requirement("DEC-PAD-1", stimuli.BATCHES, any_weights=True)
def padded_targets_have_no_influence(subject: Subject, case: Case) -> Evidence:
    real = holes(case)
    for block in blocks(subject, case, layers=2):
        masked = block.with_inputs(key_mask=real)
        want, got = run_both(subject, masked, masked.with_inputs(x=poisoned(block.inputs["x"], real)))
        yield close(got[real], want[real], "out of real targets with other padding, [target, feature],")


@requirement("DEC-PAD-2", stimuli.BATCHES, any_weights=True)
def padding_leaves_what_remains_causal(subject: Subject, case: Case) -> Evidence:
    """Each sample without its padded target is a sequence of its own."""
    real = holes(case)
    for block in blocks(subject, case):
        out = run(subject, block.with_inputs(key_mask=real)).out
        alone = samples(block, -1)
        shorter = alone.with_inputs(x=alone.inputs["x"][:, real[-1]])
        what = "out of the last sample with a padded target, against out without that target,"
        yield close(out[-1:, real[-1]], run(subject, shorter).out, what)


# -- the memory


@requirement("DEC-MEMORY-1", stimuli.LENGTHS)
def every_target_sees_the_whole_memory(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        out = run(subject, changed_one_by_one(block, case, "memory")).out
        moved, unit = (out[1:] - out[:1]).abs().amax(dim=-1), float(out[0].abs().max())
        for s in range(case.S):
            for t in range(case.L):
                yield holds(bool(moved[s, t] > SEMANTIC * unit), f"target {t} does not see token {s} of the memory")


@requirement("DEC-KV-1", stimuli.SQUARE)
def keys_and_values_are_those_of_the_memory(subject: Subject, case: Case) -> Evidence:
    """Its features may be permuted and scaled if the columns of cross.k.weight and cross.v.weight undo it."""
    order, factor = case.permutation("features", case.width), scaled(case)
    for block in blocks(subject, case):
        weights = {
            name: w[:, order] / factor
            for name, w in block.weights.items()
            if named(name, "cross.k.weight", "cross.v.weight")
        }
        other = block.with_weights(weights).with_inputs(memory=block.inputs["memory"][..., order] * factor)
        what = "out when the memory's features are changed and cross.k and cross.v undo it,"
        yield close(run(subject, other).out, run(subject, block).out, what)


@requirement("DEC-PERM-1", stimuli.ONE, any_weights=True)
def the_order_of_the_memory_has_no_influence(subject: Subject, case: Case) -> Evidence:
    order, mask = case.permutation("memory", case.S), padding(case, case.S, (case.S, case.S - 1))
    for block in blocks(subject, case):
        memory, masked = block.inputs["memory"], masked_if_taken(subject, block, memory_mask=mask)
        moved = masked.with_inputs(memory=memory[:, order])
        if "memory_mask" in masked.inputs:
            moved = moved.with_inputs(memory_mask=mask[:, order])
        want, got = run_both(subject, masked, moved)
        yield close(got, want, "out when memory and mask are permuted alike")


@requirement("DEC-HIDE-1", stimuli.BATCHES, any_weights=True)
def padded_memory_has_no_influence(subject: Subject, case: Case) -> Evidence:
    real = padding(case, case.S, (case.S, case.S - 1, 2))
    for block in blocks(subject, case, layers=2):
        memory, masked = block.inputs["memory"], block.with_inputs(memory_mask=real)
        want, got = run_both(subject, masked, masked.with_inputs(memory=poisoned(memory, real)))
        yield close(got, want, "out with other padding in the memory")
        alone = samples(block, -1)
        shorter = alone.with_inputs(memory=alone.inputs["memory"][:, real[-1]])
        what = "out of the last sample, against out with a memory of its real tokens,"
        yield close(want[-1:], run(subject, shorter).out, what)


@requirement("DEC-EMPTY-1", stimuli.BATCHES, any_weights=True)
def a_sample_without_memory_leaves_the_others_alone(subject: Subject, case: Case) -> Evidence:
    real = padding(case, case.S, (0, case.S, 2))
    for block in blocks(subject, case):
        masked = block.with_inputs(memory_mask=real)
        what = "out of the other samples, against out without the sample whose memory is all padding,"
        out, want = run_unless_refused(subject, masked), run(subject, samples(masked, 1)).out
        yield close(want if out is None else out[1:], want, what)


# -- the stack


@requirement("DEC-STACK-1", stimuli.ONE)
def a_stack_is_its_layers_one_by_one(subject: Subject, case: Case) -> Evidence:
    for norm_first in orders(subject):
        stack = drawn(subject, case, norm_first, final_norm=False, layers=3)
        x = stack.inputs["x"]
        for i in range(3):
            prefix = f"layers.{i}."
            own = {n.replace(prefix, "layers.0."): w for n, w in stack.weights.items() if n.startswith(prefix)}
            one = replace(stack, weights=own).with_config(num_layers=1).with_inputs(x=x)
            x = run(subject, one).out
        yield close(run(subject, stack).out, x, "out of three layers, against out of each after the other,")


@requirement("DEC-FINAL-1", stimuli.ONE)
def the_last_norm_comes_last_and_once(subject: Subject, case: Case) -> Evidence:
    for norm_first in orders(subject):
        stack = drawn(subject, case, norm_first, final_norm=True, layers=1)
        out = run(subject, silent(stack, *SUBLAYERS)).out
        yield close(out, norms_alone(subject, stack), "out of sublayers that give 0, against the norms alone,")
        want = run(subject, stack).out
        got = run(subject, without_effect(subject, stack, "norm")).out
        gain, shift = stack.weights["norm.weight"] + one_plus(subject, stack), stack.weights.get("norm.bias", 0.0)
        yield close(got * gain + shift, want, "out without the last norm's gain and shift, times and plus these,")


# -- gradients


@requirement("DEC-GRAD-1", stimuli.ONE)
def gradients_reach_every_weight_and_input(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        cotangent = case.draw("cotangent", *block.inputs["x"].shape)
        wrt = (*(n for n in block.weights if not named(n, "self.k.bias", "cross.k.bias")), *block.inputs)
        grads = run(subject, block, cotangent=cotangent, wrt=wrt).grads
        unit = max(float(g.abs().max()) for g in grads.values())
        for name, grad in grads.items():
            message = f"no gradient reaches {name}: it is not trained, or has no effect"
            yield holds(float(grad.abs().max()) > SEMANTIC * unit, message)


@requirement("DEC-GRAD-2", stimuli.ONE)
def padded_memory_gets_no_gradient(subject: Subject, case: Case) -> Evidence:
    real = padding(case, case.S, (case.S - 2, 3))
    for block in blocks(subject, case):
        cotangent = case.draw("cotangent", *block.inputs["x"].shape)
        masked = block.with_inputs(memory_mask=real)
        grad = run(subject, masked, cotangent=cotangent, wrt=("memory",)).grads["memory"][~real]
        yield identical(grad, torch.zeros_like(grad), "gradient of padded memory, [token, feature],")


# -- dropout


@requirement("DEC-DROP-1", stimuli.ONE, any_weights=True)
def outside_training_dropout_changes_nothing(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        want = run(subject, block).out
        for p in (1.0, 0.5):  # the first leaves nothing to chance
            yield close(run(subject, block.with_config(dropout=p)).out, want, f"out in evaluation with dropout {p}")


@requirement("DEC-DROP-2", stimuli.ONE)
def dropout_with_probability_one_leaves_the_residual(subject: Subject, case: Case) -> Evidence:
    for block in blocks(subject, case):
        got, want = (
            run(subject, b).out for b in (block.with_config(dropout=1.0, training=True), silent(block, *SUBLAYERS))
        )
        try:
            yield close(got, want, "out in training with dropout 1, against out of sublayers that give 0,")
        except Failure:
            if not torch.equal(got, run(subject, block).out):  # who drops nothing at all is right
                raise
            yield Measure()


# -- precision


@requirement("DEC-HALF-1", stimuli.ONE)
def lower_precision_keeps_to_the_budget(subject: Subject, case: Case) -> Evidence:
    both = orders(subject)
    for i, dtype in enumerate((torch.bfloat16, torch.float16)):
        c = case.but(dtype=dtype)
        block = drawn(subject, c, both[i % len(both)], endings(subject)[0], layers=1)
        want, baseline = c.once(f"budget {block.config} {subject.declares}", partial(two_textbooks, subject, block))
        yield error_budget(run(subject, block).out, want, baseline, dtype, len(SUBLAYERS))


# -- everything at once


def compare_all(subject: Subject, case: Case, block: Call, model: str) -> Evidence:
    """Yield the measures of output and gradients against those of the formula, or of torch.

    Gradients where no size is 1: at the edges the output says enough.
    """
    compute = {"formula": formula, "torch": in_torch}[model]
    cotangent = case.draw("cotangent", *block.inputs["x"].shape)
    key = f"{model} {block.config} {sorted(block.inputs)} {subject.declares}"
    want, grads = case.once(key, lambda: with_gradients(lambda b: compute(subject, b), block, cotangent))
    if min(case.B, case.heads, case.L, case.S) == 1:
        yield close(run(subject, block).out, want)
        return
    reply = run(subject, block, cotangent=cotangent, wrt=tuple(grads))
    yield close(reply.out, want)
    unit = max(float(g.abs().max()) for g in grads.values())
    for name, grad in grads.items():
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


def masked_blocks(subject: Subject, case: Case) -> Iterator[Call]:
    """Yield a layer in each order, or a stack with its last norm, with padding in the memory if it can have any."""
    for norm_first in orders(subject):
        block = drawn(subject, case, norm_first, endings(subject)[-1], layers=2)
        yield masked_if_taken(subject, block, memory_mask=padding(case, case.S, (case.S, max(case.S - 1, 1))))


@requirement("DEC-ORACLE-1", stimuli.ONE, stimuli.EDGES)
def a_layer_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for block in masked_blocks(subject, case):
        yield from compare_all(subject, case, block, "formula")


@requirement("DEC-ORACLE-2", stimuli.ONE)
def a_stack_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for block in masked_blocks(subject, case):
        yield from compare_all(subject, case, block, "formula")


@requirement("DEC-TORCH-1", stimuli.WIDE)
def outputs_and_gradients_are_those_of_torch(subject: Subject, case: Case) -> Evidence:
    for block in masked_blocks(subject, case):
        yield from compare_all(subject, case, block, "torch" if papers_norm(block.config) else "formula")
