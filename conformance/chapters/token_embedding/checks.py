"""Checks of the chapter spec/token_embedding.md.

In a case B is the batch, L the tokens and S the ids in the vocabulary. Vectors are E wide in ``token_embedding``, and
H·E in ``token_attention``, whose table is read through attention that changes nothing: one token that sees itself.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, TokenAttentionConfig, TokenEmbeddingConfig
from attnconf.conformance.chapters.shared.layers import causality, draw_attention
from attnconf.conformance.chapters.sinusoidal.stimuli import DRIFT_SOURCE, angles, drift
from attnconf.conformance.chapters.token_embedding import stimuli
from attnconf.conformance.engine.case import Case, draw
from attnconf.conformance.engine.evidence import Failure, Measure, Observed, close, holds, identical
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.order import side_by_side
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

Evidence = Iterator[Measure | Observed]
Weights = dict[str, Tensor]
TABLE = "table.weight"
APART = 0.01  # what is more than this apart is told apart
# Tables of positions in float32, through peaked attention.
SINGLE, SINGLE_SOURCE = 1e-5, "1e-5·max|want|: 80 roundings of float32"


# -- asking


def attends(subject: Subject) -> bool:
    return bool(COMPONENTS[subject.component].attends)


def width(subject: Subject, case: Case) -> int:
    return case.width if attends(subject) else case.head_width


def factor(subject: Subject, case: Case) -> float:
    """Return what rows are multiplied by, as declared."""
    return math.sqrt(width(subject, case)) if subject.choice("embedding-scale") == "sqrt" else 1.0


def table_of(subject: Subject, case: Case, what: str = "table", rows: int = 0) -> Tensor:
    return case.draw(what, rows or case.vocabulary, width(subject, case))


def numbers(case: Case, what: str = "ids", low: int = 1, high: int = 0) -> Tensor:
    """Return ids (B, L) from ``low`` to one before ``high``: without the first and the last, if not told otherwise."""
    high = high or case.vocabulary - 1
    unit = draw(f"{case.seed}/{case.name}/{what}", case.B, case.L) / math.sqrt(12) + 0.5
    return (low + (unit * (high - low)).long()).clamp(max=high - 1).to(case.device)


def biased(subject: Subject) -> bool:
    return subject.choice("layer-bias") == "yes"


def drawn(subject: Subject, case: Case) -> Weights:
    """Return the weights of attention: none where there is none."""
    bias = biased(subject)
    return case.once(f"drawn, bias {bias}", lambda: draw_attention(case, "attn", bias)) if attends(subject) else {}


def transparent(subject: Subject, case: Case) -> Weights:
    """Return weights of attention with which every token gets the mean of all that it sees."""
    if not attends(subject):
        return {}
    eye, bias = torch.eye(width(subject, case), dtype=case.dtype, device=case.device), biased(subject)
    weights = {f"attn.{name}.weight": eye * (name in ("v", "out")) for name in ("q", "k", "v", "out")}
    return weights | {f"attn.{name}.bias": eye.new_zeros(len(eye)) for name in ("q", "k", "v", "out") if bias}


def call_on(
    subject: Subject, case: Case, ids: Tensor, table: Tensor | None = None, weights: Weights | None = None,
    changes: dict[str, Any] | None = None, key_mask: Tensor | None = None,
) -> Call:  # fmt: skip
    """Return the call on ids (B, L), with attention's weights as drawn if not given; ``changes``: to the config."""
    table = table_of(subject, case) if table is None else table
    weights = drawn(subject, case) if weights is None else weights
    rows, dim = table.shape
    config: TokenAttentionConfig | TokenEmbeddingConfig
    if attends(subject):
        settings = {"causal": causality(subject), "bias": biased(subject), "max_len": ids.shape[1] + 64}
        config = TokenAttentionConfig(rows, dim, case.heads, **{**settings, **(changes or {})})
    else:
        config = TokenEmbeddingConfig(rows, dim, **(changes or {}))
    inputs = {"ids": ids} if key_mask is None else {"ids": ids, "key_mask": key_mask}
    return Call(subject.component, config, {TABLE: table, **weights}, inputs, (*ids.shape, dim))


def ask(
    subject: Subject, case: Case, ids: Tensor, table: Tensor | None = None, weights: Weights | None = None,
    changes: dict[str, Any] | None = None, key_mask: Tensor | None = None, **options: Any,
) -> Reply:  # fmt: skip
    """Return the reply to ids (B, L). Raises Failure or Unsupported."""
    return subject.call(call_on(subject, case, ids, table, weights, changes, key_mask).asked(**options))


def looked_up(subject: Subject, case: Case, ids: Tensor, table: Tensor | None = None) -> Tensor:
    """Return what each token gets from the table, (B, L, width): without its position, where it has one."""
    table = table_of(subject, case) if table is None else table
    if not attends(subject):
        return ask(subject, case, ids, table).out
    alone, weights = ids.reshape(-1, 1), transparent(subject, case)
    out = ask(subject, case, alone, table, weights).out - ask(subject, case, alone, 0 * table, weights).out
    return out.reshape(*ids.shape, -1)


def slope(subject: Subject, case: Case, ids: Tensor, table: Tensor, cotangent: Tensor, **options: Any) -> Tensor:
    """Return the gradient of the table, of <cotangent, what each token gets from it>."""
    if attends(subject):
        ids, cotangent = ids.reshape(-1, 1), cotangent.reshape(ids.numel(), 1, -1)
    weights = transparent(subject, case)
    return ask(subject, case, ids, table, weights, cotangent=cotangent, wrt=(TABLE,), **options).grads[TABLE]


def ratio(got: Tensor, rows: Tensor) -> float:
    """Return what rows are multiplied by, as it was seen. Raises Failure where that is nothing."""
    seen = float((got * rows).sum() / rows.square().sum())
    holds(seen > 0, f"what tokens get is {seen:.3g} times their rows")
    return seen


def weighing(subject: Subject, case: Case) -> Tensor:
    return case.draw("cotangent", case.B, case.L, width(subject, case))


# -- the call


# -- which row


@requirement("EMB-SAMPLE-1", stimuli.BATCHES, any_weights=True)
def a_sample_is_on_its_own(subject: Subject, case: Case) -> Evidence:
    ids = numbers(case)
    out = ask(subject, case, ids).out
    for b in (0, case.B - 1):
        among = numbers(case, "others").clone()
        among[b] = ids[b]
        yield close(ask(subject, case, among).out[b], out[b], f"out of sample {b} among others than before")


@requirement("EMB-ROW-1", stimuli.USUAL)
def a_token_gets_the_row_of_its_id(subject: Subject, case: Case) -> Evidence:
    """Up to one factor for all, which is judged by itself."""
    ids, rows = numbers(case), table_of(subject, case)[numbers(case)]
    got = looked_up(subject, case, ids)
    yield close(got, ratio(got, rows) * rows, f"what ids {ids.tolist()} get, against those rows,")


@requirement("EMB-SCALE-1", stimuli.USUAL)
def rows_are_scaled_as_declared(subject: Subject, case: Case) -> Evidence:
    seen = ratio(looked_up(subject, case, numbers(case)), table_of(subject, case)[numbers(case)])
    yield close(torch.tensor(seen), torch.tensor(factor(subject, case)), "the factor of the rows")


@requirement("EMB-SAME-1", stimuli.ONE, any_weights=True)
def an_id_gets_one_vector_everywhere(subject: Subject, case: Case) -> Evidence:
    for number in (1, case.vocabulary - 2):
        got = looked_up(subject, case, torch.full((case.B, case.L), number, device=case.device))
        first = got[:1, :1].expand_as(got)
        yield close(got, first, f"what tokens get where all ids are {number}, against the first of them,")


def among_others(subject: Subject, case: Case, number: int) -> tuple[Tensor, float, Measure]:
    """Return ids of which every other is this one, the factor of the others' rows, and the measure of its own."""
    ids, table = numbers(case).clone(), table_of(subject, case)
    ids[:, ::2] = number
    got = looked_up(subject, case, ids)
    by = ratio(got[:, 1::2], table[ids[:, 1::2]])
    return ids, by, close(got[:, ::2], by * table[ids[:, ::2]], f"what id {number} gets among others")


@requirement("EMB-ZERO-1", stimuli.ONE)
def id_0_has_a_row_like_the_others(subject: Subject, case: Case) -> Evidence:
    ids, by, measure = among_others(subject, case, 0)
    yield measure
    cotangent = weighing(subject, case)
    got = slope(subject, case, ids, table_of(subject, case), cotangent)[0]
    yield close(got, by * cotangent[:, ::2].sum(dim=(0, 1)), "gradient of row 0")


@requirement("EMB-LAST-1", stimuli.ONE, stimuli.MANY)
def the_last_id_has_a_row_too(subject: Subject, case: Case) -> Evidence:
    yield among_others(subject, case, case.vocabulary - 1)[2]


@requirement("EMB-HALF-1", stimuli.ONE)
def rows_are_kept_in_half_precision(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        c = case.but(dtype=dtype)
        ids, table, by = numbers(c), table_of(subject, c), factor(subject, c)
        got, what = ask(subject, c, ids).out, f"out in {str(dtype).removeprefix('torch.')}"
        if by == 1.0:
            yield identical(got, table[ids], what)
            continue
        want, eps = by * table[ids].double(), torch.finfo(dtype).eps
        yield close(got, want, what, bound=eps, source="two roundings of half a step each")


# -- what is refused


def refuses(subject: Subject, case: Case, what: str, ids: Tensor) -> Measure:
    """Return a measure if the subject raises an exception."""
    try:
        ask(subject, case, ids)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


def with_one(case: Case, number: int) -> Tensor:
    ids = numbers(case).clone()
    ids[-1, case.L // 2] = number
    return ids


@requirement("EMB-BEYOND-1", stimuli.USUAL, any_weights=True, out_of_range=True)
def ids_beyond_the_vocabulary_are_refused(subject: Subject, case: Case) -> Evidence:
    for number in (case.vocabulary + 2, case.vocabulary, 2**40):  # the first one is in no row that others are sent to
        yield refuses(subject, case, f"id {number} of {case.vocabulary}", with_one(case, number))


@requirement("EMB-NEG-1", stimuli.USUAL, any_weights=True, out_of_range=True)
def negative_ids_are_refused(subject: Subject, case: Case) -> Evidence:
    for number in (-1, -case.vocabulary - 1):
        yield refuses(subject, case, f"id {number}", with_one(case, number))


@requirement("EMB-FLOAT-1", stimuli.USUAL)
def ids_that_are_not_integers_are_refused(subject: Subject, case: Case) -> Evidence:
    for dtype, part in ((torch.float32, 0.0), (torch.float64, 0.5)):
        yield refuses(subject, case, f"ids as {dtype}", numbers(case).to(dtype) + part)


@requirement("EMB-BOOL-1", stimuli.USUAL)
def truth_values_are_refused(subject: Subject, case: Case) -> Evidence:
    yield refuses(subject, case, "ids as torch.bool", numbers(case) % 2 == 0)


@requirement("EMB-INT-1", stimuli.USUAL, any_weights=True)
def ids_of_32_bits_are_ids(subject: Subject, case: Case) -> Evidence:
    want = ask(subject, case, numbers(case)).out
    yield close(ask(subject, case, numbers(case).int()).out, want, "out of ids in 32 bits, against those in 64,")


# -- gradients


@requirement("EMB-GRAD-1", stimuli.BATCHES)
def a_row_used_once_gets_the_gradient_of_its_token(subject: Subject, case: Case) -> Evidence:
    many = case.B * case.L
    ids = (case.permutation("each once", many + 2) + 1)[:many].reshape(case.B, case.L)
    cotangent = weighing(subject, case)
    got = slope(subject, case, ids, table_of(subject, case, rows=many + 4), cotangent)[ids]
    yield close(got, factor(subject, case) * cotangent, "gradient of rows that were used once")


@requirement("EMB-GRAD-2", stimuli.BATCHES)
def a_row_used_often_gets_all_gradients(subject: Subject, case: Case) -> Evidence:
    """Within a sample and in several."""
    ids, cotangent = numbers(case, "few ids", 1, 4), weighing(subject, case)
    got = slope(subject, case, ids, table_of(subject, case), cotangent)
    want = torch.zeros_like(got).index_add(0, ids.flatten(), factor(subject, case) * cotangent.flatten(0, 1))
    yield close(got[1:4], want[1:4], f"gradient of rows 1 to 3, used {ids.flatten().bincount()[1:].tolist()} times,")


@requirement("EMB-GRAD-3", stimuli.ONE)
def an_unused_row_gets_no_gradient(subject: Subject, case: Case) -> Evidence:
    grad = slope(subject, case, numbers(case, "few ids", 1, 4), table_of(subject, case), weighing(subject, case))
    rest = torch.cat([grad[:1], grad[4:]])
    yield identical(rest, torch.zeros_like(rest), "gradient of the rows that were not used")


# -- padding


def padded(case: Case, pad: int) -> Tensor:
    """Return ids of which every third is the padding, and no other."""
    ids = numbers(case, "any ids", 0, case.vocabulary).clone()
    ids[ids == pad] = (pad + 1) % case.vocabulary
    ids[:, ::3] = pad
    return ids


@requirement("EMB-PAD-1", stimuli.ONE)
def the_row_of_the_padding_does_not_learn(subject: Subject, case: Case) -> Evidence:
    for pad in (2, 0, case.vocabulary - 1):
        changes, table = {"padding_id": pad}, table_of(subject, case)
        got = slope(subject, case, padded(case, pad), table, weighing(subject, case), changes=changes)[pad]
        yield identical(got, torch.zeros_like(got), f"gradient of row {pad}, which is padding,")


@requirement("EMB-PAD-2", stimuli.ONE)
def padding_leaves_the_other_rows_alone(subject: Subject, case: Case) -> Evidence:
    for pad in (2, 0, case.vocabulary - 1):
        changes, ids, table = {"padding_id": pad}, padded(case, pad), table_of(subject, case)
        other, cotangent = torch.arange(case.vocabulary, device=case.device) != pad, weighing(subject, case)
        got, want = ask(subject, case, ids, changes=changes).out, ask(subject, case, ids).out
        yield close(got[ids != pad], want[ids != pad], f"out of other tokens where {pad} is padding, against without,")
        got, want = (slope(subject, case, ids, table, cotangent, changes=c) for c in (changes, {}))
        yield close(got[other], want[other], f"gradient of other rows where {pad} is padding, against without,")


@requirement("EMB-PAD-3", stimuli.USUAL)
def the_padding_gets_its_row_or_zeros(subject: Subject, case: Case) -> Evidence:
    ids = numbers(case).clone()
    ids[:, ::3] = 2
    got = ask(subject, case, ids, changes={"padding_id": 2}).out[ids == 2]
    row = factor(subject, case) * table_of(subject, case)[2]
    wanted = {"stored": row.expand_as(got), "zeros": torch.zeros_like(got)}
    declared = subject.declares.get("padding-row") or min(wanted, key=lambda c: float((got - wanted[c]).abs().max()))
    yield close(got, wanted[declared], f"out of the padding, against {declared}", unit=float(row.abs().max()))
    yield Observed("padding-row", declared)


# -- from ids to attention


def encoding(subject: Subject, length: int, dim: int) -> Tensor:
    """Return the sinusoidal encoding as it is declared, float64 (length, dim)."""
    theta = angles(subject, length, dim)
    side = torch.stack([theta.sin(), theta.cos()], dim=-1).flatten(1)
    return side[:, side_by_side(subject.choice("sinusoidal-layout"), dim)]


@requirement("EMB-ORDER-1", stimuli.ONE)
def the_order_of_tokens_matters(subject: Subject, case: Case) -> Evidence:
    """To the last token, which sees all others, causal or not."""
    ids, table = (case.permutation("ids", case.L) + 1).repeat(case.B, 1), table_of(subject, case, rows=case.L + 2)
    order = torch.cat([case.permutation("earlier", case.L - 1), ids.new_tensor([case.L - 1])])
    one, again, other = (ask(subject, case, given, table).out[:, -1] for given in (ids, ids, ids[:, order]))
    yield close(again, one, "out of the last token in a second call")
    moved = float((one - other).abs().max())
    yield holds(moved > APART, f"the tokens before the last in another order: its output moves by {moved:.2g}")


@requirement("EMB-POS-1", stimuli.ONE)
def positions_are_added_once_before_attention(subject: Subject, case: Case) -> Evidence:
    """The mean of what the last of n tokens sees, n = 1 to 4, tells what each of them carries."""
    weights, nothing = transparent(subject, case), 0 * table_of(subject, case)
    means = [ask(subject, case, numbers(case)[:, :n], nothing, weights).out[:, -1] for n in (1, 2, 3, 4)]
    sums = torch.stack([n * mean for n, mean in enumerate(means, 1)], dim=1)
    got = sums - torch.cat([torch.zeros_like(sums[:, :1]), sums[:, :-1]], dim=1)
    want = encoding(subject, len(means), got.shape[-1]).to(case.device).expand_as(got)
    slack = 2 * len(means) * drift(len(means))  # of differences of sums
    yield close(
        got, want, "what tokens without a vector bring to attention", bound=slack, source=DRIFT_SOURCE, unit=1.0
    )


@requirement("EMB-SEEN-1", stimuli.ONE)
def every_token_is_seen_by_all(subject: Subject, case: Case) -> Evidence:
    ids, weights = numbers(case), transparent(subject, case)
    out = ask(subject, case, ids, weights=weights).out
    yield close(ask(subject, case, ids, weights=weights).out, out, "out in a second call")
    for t in (0, case.L - 1):
        moved = ask(subject, case, changed(case, ids, t), weights=weights).out - out
        least = float(moved.abs().amax(dim=-1).min())
        yield holds(least > APART, f"token {t} is another: some output of its sample moves by {least:.2g} only")


def changed(case: Case, ids: Tensor, t: int) -> Tensor:
    """Return the ids with others in place t."""
    other = ids.clone()
    other[:, t] = ids[:, t] % (case.vocabulary - 2) + 1
    return other


@requirement("EMB-CAUSAL-1", stimuli.ONE)
def with_causal_no_earlier_token_sees_a_change(subject: Subject, case: Case) -> Evidence:
    ids, weights = numbers(case), transparent(subject, case)
    out = ask(subject, case, ids, weights=weights, changes={"causal": True}).out
    for t in (0, case.L - 1):
        got = ask(subject, case, changed(case, ids, t), weights=weights, changes={"causal": True}).out
        yield close(got[:, :t], out[:, :t], f"out before token {t}, which is another")
        least = float((got - out)[:, t:].abs().amax(dim=-1).min())
        yield holds(least > APART, f"token {t} is another: some output from it on moves by {least:.2g} only")


@requirement("EMB-MASK-1", stimuli.ONE)
def padded_tokens_are_not_seen(subject: Subject, case: Case) -> Evidence:
    ids, most = numbers(case), case.L - 2
    mask = torch.arange(case.L, device=case.device).expand(case.B, case.L) < most
    got = ask(subject, case, ids, key_mask=mask).out[:, :most]
    yield close(got, ask(subject, case, ids[:, :most]).out, "out beside padding, against the sequence without it,")
    other = torch.where(mask, ids, numbers(case, "others"))
    yield close(ask(subject, case, other, key_mask=mask).out[:, :most], got, "out beside padding that is another")


@requirement("EMB-ORACLE-1", stimuli.ONE, stimuli.EDGES)
def output_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    ids, weights = (
        numbers(case, "any ids", 0, case.vocabulary),
        {TABLE: table_of(subject, case), **drawn(subject, case)},
    )
    cotangent, places = weighing(subject, case), encoding(subject, case.L, width(subject, case)).to(case.device)
    by, mask = factor(subject, case), causal(case.L, case.L).to(case.device) if causality(subject) else None

    def expected() -> tuple[Tensor, list[Tensor]]:
        leaves = {name: w.clone().requires_grad_() for name, w in weights.items()}
        x = by * leaves[TABLE][ids] + places
        own = {name.removeprefix("attn."): w for name, w in leaves.items() if name != TABLE}
        out = multi_head_attention(x, x, x, own, case.heads, mask)[0]
        return out.detach(), slopes([(out, cotangent)], list(leaves.values()))

    want, grads = case.once(f"wanted with {sorted(subject.declares.items(), key=str)}", expected)
    reply = ask(subject, case, ids, cotangent=cotangent, wrt=tuple(weights))
    yield close(reply.out, want, bound=SINGLE, source=SINGLE_SOURCE)
    unit = max(float(g.abs().max()) for g in grads)
    for name, grad in zip(weights, grads, strict=True):
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit, bound=SINGLE, source=SINGLE_SOURCE)
