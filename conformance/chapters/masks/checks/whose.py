"""Checks of the chapter spec/masks.md: whose mask it is."""

from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.masks import stimuli
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import keeping, lower_shapes, replies, some, whole
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal


def each_gets_its_own(subject: Subject, case: Case, axis: int, what: str) -> Evidence:
    """A mask differs along one axis: each slice of the output is what its slice of the mask makes of it."""
    shape = [1, 1, 1, case.S]
    shape[axis] = (case.B, case.H, case.L)[axis]
    mask = some(case, *shape)
    together = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask, case)).out
    for i in range(shape[axis]):
        alone = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask.narrow(axis, i, 1), case)).out
        what_it_is = f"out of {what} {i}, against its mask given to all,"
        yield close(together.narrow(axis, i, 1), alone.narrow(axis, i, 1), what_it_is)


@requirement("MASK-QUERY-1", stimuli.ONE_SQUARE)
def each_query_gets_its_own_row_of_the_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 2, "query")


@requirement("MASK-HEAD-1", of_attention.SMALL, of_attention.BATCH_IS_H)
def each_head_gets_its_own_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 1, "head")


@requirement("MASK-SAMPLE-1", of_attention.SMALL, of_attention.BATCH_IS_H)
def each_sample_gets_its_own_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 0, "sample")


@requirement("MASK-BROADCAST-1", of_attention.BATCH_IS_H)
def masks_broadcast_from_the_right(subject: Subject, case: Case) -> Evidence:
    for shape in lower_shapes(case):
        mask = some(case, *shape)
        want = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask, case)).out
        got = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
        yield close(got, want, f"out with a mask of shape {shape}, against the same mask in full,")


@requirement("MASK-PADDING-1", stimuli.PADDED, of_attention.MASKED_ONES)
def padding_is_hidden_in_each_sample(subject: Subject, case: Case) -> Evidence:
    hidden = ((0,), (-1, -2), (), (1, 3))  # at the start, at the end, nowhere, between
    key_mask = torch.stack([keeping(case, *hidden[b % len(hidden)]) for b in range(case.B)])
    together = subject.attend(case.q, case.k, case.v, key_mask=key_mask).out
    for b in range(case.B):
        keep = key_mask[b]
        alone = subject.attend(case.q[b : b + 1], case.k[b : b + 1, :, keep], case.v[b : b + 1, :, keep]).out
        yield close(together[b : b + 1], alone, f"out of sample {b}, against it alone without its padding,")


@requirement("MASK-AND-1", stimuli.ONE_SQUARE)
def masks_are_joined_by_and(subject: Subject, case: Case) -> Evidence:
    masks = subject.choice("masks")
    explicit = some(case, case.B, case.H if masks == "any" else 1, case.L, case.S)
    key_mask = some(case, case.B, case.S).clone()
    explicit[..., 0] = key_mask[:, 0] = True  # the first query sees itself
    triangle = causal(case.L, case.S).to(case.device)
    padding = key_mask[:, None, None]
    for given, both in (
        ({"attn_mask": explicit, "key_mask": key_mask}, explicit & padding),
        ({"attn_mask": explicit, "causal": True}, explicit & triangle),
        ({"key_mask": key_mask, "causal": True}, whole(padding & triangle, case)),
        ({"attn_mask": explicit, "key_mask": key_mask, "causal": True}, explicit & padding & triangle),
    ):
        if masks == "keys" and {"attn_mask", "causal"} <= set(given):
            continue  # a mask of keys alone hides nothing from single queries
        options: dict[str, Any] = given
        want = subject.attend(case.q, case.k, case.v, attn_mask=both).out
        got = subject.attend(case.q, case.k, case.v, **options).out
        yield close(got, want, f"out with {' and '.join(given)}, against the mask that allows what all allow,")


@requirement("MASK-LONG-1", stimuli.LONG_SQUARE)
def masks_hold_in_long_sequences(subject: Subject, case: Case) -> Evidence:
    """Equal scores (q = 0): the output is the mean of the values that the mask allows."""
    q = torch.zeros_like(case.q)
    explicit, triangle = some(case, 1, 1, case.L, case.S), causal(case.L, case.S).to(case.device)
    options: tuple[tuple[str, dict[str, Any], Tensor], ...] = (
        ("a mask", {"attn_mask": whole(explicit, case)}, explicit),
        ("causality", {"causal": True}, triangle),
    )
    for name, given, mask in options:
        weights = mask.to(case.v) / mask.sum(dim=-1, keepdim=True)
        out = subject.attend(q, case.k, case.v, **given).out
        yield close(out, weights @ case.v, f"out with q = 0 under {name}, against the mean of the allowed values,")


@requirement("MASK-IMMUT-1", stimuli.ONE_SQUARE)
def masks_are_left_as_they_were(subject: Subject, case: Case) -> Evidence:
    shape = (case.B, case.H, case.L, case.S)
    padding = keeping(case, -1).expand(case.B, -1)
    given = {"attn_mask": some(case, *shape), "key_mask": padding, "attn_bias": case.draw("bias", *shape)}
    calls: dict[str, dict[str, Any]] = {}
    for name, x in given.items():
        calls |= {name: {name: x}, f"{name} and causal": {name: x, "causal": True}}
    for name, reply in replies(subject, case, calls):
        changed = [x for x in reply.changed if x in given]
        yield holds(not changed, f"modified in place: {', '.join(changed)}, when given {name}")


@requirement("MASK-STRIDE-1", of_attention.SMALL)
def the_layout_of_a_mask_does_not_matter(subject: Subject, case: Case) -> Evidence:
    mask = some(case, case.B, case.H, case.L, case.S)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    for layout in ("transposed", "offset"):
        out = subject.attend(case.q, case.k, case.v, attn_mask=mask, layout=layout).out
        yield close(out, want, f"out with a {layout} mask")
    q, k, v, mask = (x[:1].expand_as(x) for x in (case.q, case.k, case.v, mask))
    want = subject.attend(q, k, v, attn_mask=mask).out
    yield close(subject.attend(q, k, v, attn_mask=mask, layout="expanded").out, want, "out with an expanded mask")
