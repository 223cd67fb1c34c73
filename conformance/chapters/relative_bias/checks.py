"""Checks of the chapter spec/relative_bias.md.

Each reads the buckets out of the component: a table of different numbers shows from which row a bias was taken. Where
the component is attention, the bias is read as log odds of the weights under queries of zero; what a row of it has in
common cancels in the softmax, and is found by trying.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import RelativeBiasAttentionConfig, RelativeBiasConfig
from attnconf.conformance.chapters.relative_bias import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import (
    DIFFERENCES,
    DIFFERENCES_SOURCE,
    SEMANTIC,
    Measure,
    Observed,
    close,
    holds,
)
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.relative_bias import relative_bias_attention

Evidence = Iterator[Measure | Observed]
SIZES = (32, 128)  # buckets, largest distance
# The first distance of each bucket of one direction, as the published code of T5 has them, by (buckets, max_distance).
# Of 12 buckets and 10 tokens the bucket 8 is empty.
FIRST = {
    (16, 128): [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91],
    (32, 128): [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113],
    (6, 10): [0, 1, 2, 3, 5, 7],
    (12, 10): [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10],
}


# -- asking


def bias_call(
    subject: Subject, table: Tensor, queries: int, keys: int, both: bool = True, max_distance: int = 128
) -> Call:
    """Return the call of the bias: table (N, H), out (H, L, S)."""
    N, H = table.shape
    config = RelativeBiasConfig(H, N, max_distance, both)
    inputs = {"query_length": queries, "key_length": keys}
    return Call(subject.component, config, {"table.weight": table}, inputs, (H, queries, keys))


def ask_for_bias(
    subject: Subject, table: Tensor, queries: int, keys: int, both: bool = True, max_distance: int = 128, **options: Any
) -> Reply:
    """Return the reply of the bias: table (N, H), out (H, L, S)."""
    return subject.call(bias_call(subject, table, queries, keys, both, max_distance).asked(**options))


def attending(
    subject: Subject, q: Tensor, k: Tensor, v: Tensor, table: Tensor | None, causal: bool = False,
    max_distance: int = 128,
) -> Call:  # fmt: skip
    """Return the call of attention with the bias of a table (N, H), or without one: cross-attention."""
    N = 32 if table is None else len(table)
    config = RelativeBiasAttentionConfig(q.shape[1], q.shape[-1], N, max_distance, causal, table is None)
    weights = {} if table is None else {"table.weight": table}
    return Call(subject.component, config, weights, {"query": q, "key": k, "value": v}, tuple(q.shape))


def attend(
    subject: Subject, q: Tensor, k: Tensor, v: Tensor, table: Tensor | None, causal: bool = False,
    max_distance: int = 128, **options: Any,
) -> Reply:  # fmt: skip
    """Return the reply of attention with the bias of a table (N, H), or without one."""
    return subject.call(attending(subject, q, k, v, table, causal, max_distance).asked(**options))


def tokens(case: Case, length: int, batch: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, k and v = I for so many tokens, (batch, H, length, E): out is the weights, then zeros."""
    q, k = (case.draw(name, batch, case.H, length, case.E) * case.E**-0.25 for name in "qk")
    identity = torch.eye(length, case.E, dtype=case.dtype, device=case.device)
    return q, k, identity.expand_as(q).contiguous()


def one_column(case: Case, buckets: int) -> Tensor:
    """Return a table (N, H) with the same numbers for all heads."""
    return case.draw("column", buckets, 1).expand(buckets, case.H).contiguous()


def log_weights(
    subject: Subject, q: Tensor, k: Tensor, v: Tensor, table: Tensor, causal: bool = False, max_distance: int = 128,
    **options: Any,
) -> Tensor:  # fmt: skip
    """Return the logarithms of the weights, (B, H, S, S), for values that are the identity."""
    out = attend(subject, q, k, v, table, causal, max_distance, **options).out
    return out[..., : k.shape[2]].double().log()


# -- reading the buckets


def read_buckets(
    subject: Subject, case: Case, length: int, *, table: Tensor | None = None, both: bool = True,
    max_distance: int = 128, rows: tuple[int, ...] | None = None,
) -> Tensor:  # fmt: skip
    """Return from which row of the table each bias was taken, (H, rows, length), -1 where from none.

    Keys that causality hides count as bucket 0, which is that of later keys in one direction.
    """
    table = one_column(case, SIZES[0]) if table is None else table
    if not subject.offers("scores"):
        bias = ask_for_bias(subject, table, length, length, both, max_distance).out.double()
    else:
        q, k, v = tokens(case, length)
        bias = log_weights(subject, 0 * q, k, v, table, not both, max_distance)[0]
    seen = torch.ones(length, length, dtype=torch.bool, device=bias.device)
    if subject.offers("scores") and not both:
        seen = seen.tril()
    if rows is not None:
        bias, seen = bias[:, list(rows)], seen[list(rows)]
    free = subject.offers("scores")
    if bool((table == table[:, :1]).all()):  # all heads at once
        found = rows_of(bias.flatten(0, 1), table[:, 0].double(), seen.repeat(case.H, 1), free).view_as(bias)
    else:
        found = torch.stack([rows_of(x, column, seen, free) for x, column in zip(bias, table.double().T, strict=True)])
    return found.where(seen, 0)


def rows_of(x: Tensor, column: Tensor, seen: Tensor, free: bool) -> Tensor:
    """Return the index into ``column`` (N,) of every entry of x (L, S), -1 where there is none like it.

    ``free``: every row of x may be off by a number of its own, here the one that makes most of its entries fit; with
    one entry only, bucket 0.
    """
    values, order = column.sort()
    starts = column[:, None] if free else x[:, None, :1]  # what the first key's bias may be
    shifted = ((x - x[:, :1])[:, None] + starts).contiguous()  # (L, N or 1, S)
    above = torch.searchsorted(values, shifted).clamp(1, len(values) - 1)
    nearest = above - (shifted - values[above - 1] < values[above] - shifted).long()
    fits = ((shifted - values[nearest]).abs() <= SEMANTIC * values.abs().max()) & seen[:, None]
    best = fits.sum(dim=-1).argmax(dim=-1)[:, None, None].expand(-1, 1, x.shape[-1])
    found = torch.where(fits, order[nearest], -1)
    return found.gather(1, best)[:, 0]


def expected(distance: Tensor, buckets: int, max_distance: int) -> Tensor:
    """Return the bucket of each distance, of the buckets of one direction."""
    first = torch.tensor(FIRST[buckets, max_distance], device=distance.device)
    return torch.searchsorted(first, distance.contiguous(), right=True) - 1


def relative(length: int, like: Tensor, rows: tuple[int, ...] | None = None) -> Tensor:
    """Return key - query, (rows, length)."""
    i = torch.arange(length, device=like.device)
    return i - (i if rows is None else i[list(rows)])[:, None]


def any_in_table(found: Tensor) -> Measure:
    """Return the measure if any bias is in the table at all: buckets that were not found are all alike."""
    return holds(bool((found >= 0).any()), "no bias is in the table", "value")


def are(got: Tensor, want: Tensor, where: Tensor, offset: Tensor, what: str) -> Measure:
    """Return the measure if the buckets (H, L, S) are the wanted ones at some relative positions, else say where."""
    wrong = (got != want) & where
    at = [int(i) for i in wrong.nonzero()[0]] if bool(wrong.any()) else [0, 0, 0]
    h, i, j = at
    place = f"key - query = {int(offset[i, j])}: head {h} takes bucket {int(got[h, i, j])}"
    return holds(not bool(wrong.any()), f"{what}: {place}, want {int(want.expand_as(got)[h, i, j])}", "value")


# -- what comes back


def out_after(subject: Subject, case: Case, before: tuple[int, ...]) -> Tensor:
    """Return what either component gives for S tokens after calls with so many."""
    table = one_column(case, SIZES[0])
    if not subject.offers("scores"):
        lengths = tuple({"query_length": n, "key_length": n} for n in before)
        return ask_for_bias(subject, table, case.S, case.S, before=lengths).out
    earlier = tuple(dict(zip(("query", "key", "value"), tokens(case, n), strict=True)) for n in before)
    return attend(subject, *tokens(case, case.S), table, before=earlier).out


@requirement("REL-ENTRY-1", stimuli.ONE)
def every_bias_is_an_entry_of_the_table(subject: Subject, case: Case) -> Evidence:
    for both in (True, False):
        found = read_buckets(subject, case, case.S, both=both)
        strange = int((found < 0).sum())
        yield holds(strange == 0, f"{strange} of {found.numel()} biases are not in the table", "value")


@requirement("REL-HEAD-1", stimuli.ONE)
def every_head_has_its_own_column(subject: Subject, case: Case) -> Evidence:
    found = read_buckets(subject, case, case.S, table=case.draw("table", SIZES[0], case.H))
    heads = [h for h in range(case.H) if bool((found[h] < 0).any())]
    yield holds(not heads, f"biases of the heads {heads} are not in their columns of the table", "value")


@requirement("REL-GRAD-1", stimuli.ONE)
def the_table_is_trained_through_its_bias(subject: Subject, case: Case) -> Evidence:
    """Of 12 buckets the last one is used, too, by keys 10 tokens away."""
    compare = differed if subject.offers("scores") else counted
    for buckets, max_distance in (SIZES, (12, 10)):
        yield compare(subject, case, one_column(case, buckets), max_distance)


def counted(subject: Subject, case: Case, table: Tensor, max_distance: int) -> Measure:
    """Compare the table's gradient, where every bias has 1, with how often its entries are used."""
    found = read_buckets(subject, case, case.S, table=table, max_distance=max_distance)
    rows = torch.arange(len(table), device=found.device)
    counts = (found[..., None] == rows).sum(dim=(1, 2)).T.to(table)
    options: dict[str, Any] = {"cotangent": table.new_ones(case.H, case.S, case.S), "wrt": ("table.weight",)}
    reply = ask_for_bias(subject, table, case.S, case.S, max_distance=max_distance, **options)
    what = "gradient of the table against how often its entries are used:"
    return close(reply.grads["table.weight"], counts, what)


def differed(subject: Subject, case: Case, table: Tensor, max_distance: int) -> Measure:
    """Compare the table's gradient with differences of the output."""
    q, k, v = tokens(case, case.S, case.B)
    cotangent, step = case.draw("cotangent", *v.shape), case.draw("direction", *table.shape).clone()
    step[-1] *= 4  # few keys are as far away as the last bucket

    def along(t: float) -> Tensor:
        return (attend(subject, q, k, v, table + t * step, max_distance=max_distance).out * cotangent).sum()

    slope = (8 * (along(0.01) - along(-0.01)) - (along(0.02) - along(-0.02))) / 0.12
    options: dict[str, Any] = {"max_distance": max_distance, "cotangent": cotangent, "wrt": ("table.weight",)}
    grad = attend(subject, q, k, v, table, **options).grads["table.weight"]
    unit = max(float(grad.norm()), float(slope.abs()))
    what = "derivative along a direction of the table against differences:"
    return close((grad * step).sum(), slope, what, bound=DIFFERENCES, source=DIFFERENCES_SOURCE, unit=unit)


# -- which bucket


@requirement("REL-RELATIVE-1", stimuli.ONE)
def the_bucket_depends_on_key_minus_query(subject: Subject, case: Case) -> Evidence:
    found = read_buckets(subject, case, case.S)
    yield any_in_table(found)
    offset = relative(case.S, found)
    by_offset = torch.cat([found[:, -1], found[:, 0, 1:]], dim=-1)  # from 1 - S to S - 1
    want = by_offset[:, offset + case.S - 1]
    yield are(found, want, found == found, offset, "against the first and last query at the same offset")


@requirement("REL-SIGN-1", stimuli.ONE)
def later_keys_have_the_upper_half(subject: Subject, case: Case) -> Evidence:
    found = read_buckets(subject, case, case.S)
    offset = relative(case.S, found)
    half = SIZES[0] // 2
    for side, where, right in (("later", offset > 0, found >= half), ("earlier", offset < 0, found < half)):
        wrong = int((where & ~right).sum())
        yield holds(wrong == 0, f"{wrong} of {int(where.sum()) * case.H} {side} keys have the other half's buckets")


@requirement("REL-EXACT-1", stimuli.ONE)
def near_keys_have_a_bucket_for_each_distance(subject: Subject, case: Case) -> Evidence:
    found = read_buckets(subject, case, case.S)
    offset = relative(case.S, found)
    half = SIZES[0] // 2
    want = offset.abs() + half * (offset > 0)
    yield are(found, want, offset.abs() < half // 2, offset, "exact buckets")


@requirement("REL-LOG-1", stimuli.LONG)
def buckets_widen_with_the_logarithm(subject: Subject, case: Case) -> Evidence:
    rows = (0, case.L // 2, case.L - 1)
    found = read_buckets(subject, case, case.L, rows=rows)  # distances up to 126
    offset = relative(case.L, found, rows)
    half = SIZES[0] // 2
    want = expected(offset.abs(), half, SIZES[1]) + half * (offset > 0)
    yield are(found, want, offset.abs() >= half // 2, offset, "logarithmic buckets")


@requirement("REL-LAST-1", stimuli.LONG)
def all_that_is_further_shares_the_last_bucket(subject: Subject, case: Case) -> Evidence:
    rows = (0, case.S - 1)
    found = read_buckets(subject, case, case.S, rows=rows)
    offset = relative(case.S, found, rows)
    half = SIZES[0] // 2
    want = half - 1 + half * (offset > 0)
    yield are(found, want, offset.abs() >= SIZES[1], offset, "the last bucket")


@requirement("REL-ONE-1", stimuli.USUAL, stimuli.LONG)
def in_one_direction_all_buckets_are_for_earlier_keys(subject: Subject, case: Case) -> Evidence:
    rows = (0, case.S // 2, case.S - 1)
    found = read_buckets(subject, case, case.S, both=False, rows=rows)
    offset = relative(case.S, found, rows)
    want = expected((-offset).clamp(min=0), *SIZES)
    yield are(found, want, found == found, offset, "buckets of one direction")


@requirement("REL-SIZES-1", stimuli.SIZES)
def the_number_of_buckets_and_the_largest_distance_may_differ(subject: Subject, case: Case) -> Evidence:
    table = one_column(case, 12)
    for both, of_one in ((True, 6), (False, 12)):
        found = read_buckets(subject, case, case.S, table=table, both=both, max_distance=10)
        offset = relative(case.S, found)
        distance = offset.abs() if both else (-offset).clamp(min=0)
        want = expected(distance, of_one, 10) + (6 * (offset > 0) if both else 0)
        yield are(found, want, found == found, offset, "12 buckets for 10 tokens")


@requirement("REL-HALF-1", stimuli.LONG)
def buckets_do_not_depend_on_the_precision_of_the_table(subject: Subject, case: Case) -> Evidence:
    """The entries are whole numbers that half precision holds exactly."""
    rows = torch.arange(SIZES[0], dtype=case.dtype, device=case.device) - 16
    table = rows[:, None].expand(-1, case.H).contiguous()
    for both in (True, False):
        want = ask_for_bias(subject, table, case.S, case.S, both).out.double()
        for dtype in (torch.bfloat16, torch.float16):
            got = ask_for_bias(subject, table.to(dtype), case.S, case.S, both).out.double()
            yield close(got, want, f"bias from a table in {dtype}", bound=0.0, source="exact")


@requirement("REL-ALIGN-1", stimuli.UNEVEN)
def queries_stand_at_the_keys_that_are_declared(subject: Subject, case: Case) -> Evidence:
    table = case.draw("table", SIZES[0], case.H)
    longest = max(case.L, case.S)
    square = ask_for_bias(subject, table, longest, longest).out
    got = ask_for_bias(subject, table, case.L, case.S).out
    corners = {"top-left": square[:, : case.L, : case.S], "bottom-right": square[:, -case.L :, -case.S :]}
    choice = subject.choice("t5-alignment")
    if "t5-alignment" not in subject.declares:
        choice = min(corners, key=lambda name: float((got - corners[name]).abs().max()))
        yield Observed("t5-alignment", choice)
    what = f"bias of {case.L} queries and {case.S} keys, against the {choice} corner of {longest}:"
    yield close(got, corners[choice], what)


# -- in attention


def against_first_key(x: Tensor) -> Tensor:
    return x - x[..., :1]


def moved_by_queries(subject: Subject, case: Case) -> tuple[Tensor, Tensor]:
    """Return how queries move the log odds against the first key, and q·k against the first key: (1, H, S, S) each."""
    q, k, v = tokens(case, case.S)
    table = one_column(case, SIZES[0])
    moved = log_weights(subject, q, k, v, table) - log_weights(subject, 0 * q, k, v, table)
    return against_first_key(moved), against_first_key(torch.einsum("bhle,bhse->bhls", q, k))


@requirement("REL-ADD-1", stimuli.ONE)
def the_bias_is_added_to_the_scores(subject: Subject, case: Case) -> Evidence:
    q, k, v = tokens(case, case.S)
    sums = attend(subject, q, k, torch.ones_like(v), one_column(case, SIZES[0])).out
    yield close(sums, torch.ones_like(sums), "out with V = 1")
    got, products = moved_by_queries(subject, case)
    factor = (got * products).sum() / products.square().sum()
    yield holds(bool(factor != 0), "queries do not move the weights")
    yield close(got, factor * products, "log odds moved by the queries, against a multiple of q·k:")


@requirement("REL-SCALE-1", stimuli.ONE)
def scores_are_scaled_as_declared(subject: Subject, case: Case) -> Evidence:
    got, products = moved_by_queries(subject, case)
    scales = {"none": 1.0, "sqrt": case.E**-0.5}
    choice = subject.choice("t5-scale")
    if "t5-scale" not in subject.declares:
        choice = min(scales, key=lambda name: float((got - scales[name] * products).abs().max()))
        yield Observed("t5-scale", choice)
    yield close(got, scales[choice] * products, f"log odds moved by the queries, against q·k times {scales[choice]:g}:")


@requirement("REL-SAMPLE-1", stimuli.ONE)
def every_sample_has_the_same_bias(subject: Subject, case: Case) -> Evidence:
    q, k, v = tokens(case, case.S, case.B)
    bias = against_first_key(log_weights(subject, 0 * q, k, v, case.draw("table", SIZES[0], case.H)))
    yield close(bias, bias[:1].expand_as(bias), "bias of each sample against that of the first:")


@requirement("REL-CAUSAL-1", stimuli.ONE)
def with_causality_later_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    q, k, _ = tokens(case, case.S, case.B)
    v, table = case.draw("v", *q.shape), one_column(case, SIZES[0])
    want = attend(subject, q, k, v, table, causal=True).out[:, :, :-2]
    k, v = k.clone(), v.clone()
    k[:, :, -2:], v[:, :, -2:] = 3 - k[:, :, -2:], 3 - v[:, :, -2:]
    got = attend(subject, q, k, v, table, causal=True).out[:, :, :-2]
    yield close(got, want, "out of all tokens but the last two, those two changed,")


@requirement("REL-CROSS-1", stimuli.UNEVEN)
def keys_of_another_sequence_have_no_positions(subject: Subject, case: Case) -> Evidence:
    q = case.draw("q", case.B, case.H, case.L, case.E) * case.E**-0.25
    k, v = (case.draw(name, case.B, case.H, case.S, case.E) for name in "kv")
    order = case.permutation("order", case.S)
    want, got = (attend(subject, q, *pair, None).out for pair in ((k, v), (k[:, :, order], v[:, :, order])))
    yield close(got, want, "out with the keys and values of another sequence permuted")


@requirement("REL-CROSS-2", stimuli.UNEVEN)
def across_sequences_scores_are_scaled_as_within(subject: Subject, case: Case) -> Evidence:
    q = case.draw("q", case.B, case.H, case.L, case.E) * case.E**-0.25
    k, v = (case.draw(name, case.B, case.H, case.S, case.E) for name in "kv")
    got = attend(subject, q, k, v, None).out
    choices = ("none", "sqrt") if "t5-scale" not in subject.declares else (subject.choice("t5-scale"),)
    wants = [relative_bias_attention(q * (case.E**-0.5 if c == "sqrt" else 1.0), k, v, None) for c in choices]
    want = min(wants, key=lambda x: float((got - x).abs().max()))
    yield close(got, want, "out across sequences, against softmax(Q Kᵀ) V with the declared scale,")


@requirement("REL-ORACLE-1", stimuli.ONE)
def attention_with_the_bias_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    q, k, _ = tokens(case, case.S, case.B)
    v, cotangent = case.draw("v", *q.shape), case.draw("cotangent", *q.shape)
    table = case.draw("table", SIZES[0], case.H)
    scale = case.E**-0.5 if subject.choice("t5-scale") == "sqrt" else 1.0
    names = ("query", "key", "value", "table.weight")
    for causal in (False, True):
        reply = attend(subject, q, k, v, table, causal, cotangent=cotangent, wrt=names)
        a, b, c, d = leaves = [x.clone().requires_grad_() for x in (q, k, v, table)]
        want = relative_bias_attention(scale * a, b, c, d, causal=causal)
        yield close(reply.out, want)
        if case.S > 2:
            order = [*range(case.S - 2, -1, -1), case.S - 1]  # all but the last, which sees them all, change places
            moved = attend(subject, q, k[:, :, order], v[:, :, order], table, causal).out - reply.out
            message = "the last token's output does not depend on the order of keys"
            yield holds(float(moved[:, :, -1].abs().max()) > 0.01, message)
        for name, grad in zip(names, slopes([(want, cotangent)], leaves), strict=True):
            yield close(reply.grads[name], grad, f"gradient of {name}")
