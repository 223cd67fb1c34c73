"""Checks of the chapter spec/attention_family.md: vectors of offsets within attention."""

import math

import torch
from torch import Tensor

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.chapters.attention.stimuli import SHAPE as ATTENTION
from attnconf.conformance.chapters.attention_family.checks.shared import Evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal

FARTHEST = MultiHeadAttentionConfig.max_offset  # k
NEAR = (ATTENTION.case("near-1", B=2, H=3, L=3, E=8, F=5, S=3),)  # offsets of -2 … 2
# beyond k, also of tables whose k is written in the code: a negative index is an error farther out, and none nearby
FAR = (
    ATTENTION.case("far-1", B=2, H=3, L=7, E=8, F=5, S=7),
    *(ATTENTION.case(f"farther-{L}", B=1, H=2, L=L, E=4, F=5, S=L) for L in (12, 23, 41, 83)),
)


def drawn(case: Case, name: str) -> Tensor:
    """Return a table of vectors, (2k + 1, E): that of the earliest keys is the first."""
    return case.draw(name, 2 * FARTHEST + 1, case.E)


def spread(table: Tensor, L: int, S: int) -> Tensor:
    """Return the vector of each query and key, (L, S, E): key minus query tells the row."""
    rows = [[max(-FARTHEST, min(FARTHEST, j - i)) + FARTHEST for j in range(S)] for i in range(L)]
    return table[torch.tensor(rows, device=table.device)]


def attended(subject: Subject, q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Return what comes of queries, keys and values (B, H, T, E) with these tables, and which keys were seen (L, S).

    A window without ends keeps all queries in their places; it is not handed on.
    """
    inside = {"positions-inside": "shaw"} | ({"relative-values": "yes"} if subject.offers("relative-values") else {})
    call = subject.attending(q, k, v, inside=inside, window=(None, None)).with_config(window=None)
    given = {"relative_keys.weight": keys, "relative_values.weight": values}
    tables = {name: _as_declared(subject, given[name], w) for name, w in call.weights.items() if name in given}
    seen = causal(q.shape[2], k.shape[2]) if call.config.causal else torch.ones(q.shape[2], k.shape[2])
    return call.read(subject.call(call.with_weights(tables).asked()).out), seen.to(q.device).bool()


def _as_declared(subject: Subject, table: Tensor, like: Tensor) -> Tensor:
    """Return a table (2k + 1, E) as wide as another, with zeros behind, its rows in the order that is declared."""
    wide = torch.cat([table, table.new_zeros(len(table), like.shape[1] - table.shape[1])], dim=1)
    return wide.flip(0) if subject.choice("offset-rows") == "descending" else wide


def weighed(q: Tensor, k: Tensor, a: Tensor, seen: Tensor) -> Tensor:
    """Return softmax(q·(k + a) / √E) over the keys that are seen, (B, H, L, S)."""
    scores = torch.einsum("bhle,bhlse->bhls", q, k[:, :, None] + a) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)


def keys_meet_their_offsets(subject: Subject, case: Case) -> Evidence:
    table, v = drawn(case, "keys"), case.draw("values", case.B, case.H, case.S, case.E)
    got, seen = attended(subject, case.q, case.k, v, table, 0 * table)
    want = weighed(case.q, case.k, spread(table, case.L, case.S), seen) @ v
    yield close(got, want, "out with a vector of its offset added to each key")


def values_meet_their_offsets(subject: Subject, case: Case) -> Evidence:
    table, v = drawn(case, "values of offsets"), case.draw("values", case.B, case.H, case.S, case.E)
    got, seen = attended(subject, 0 * case.q, case.k, v, 0 * table, table)
    added = v[:, :, None] + spread(table, case.L, case.S)  # (B, H, L, S, E)
    want = torch.einsum("ls,bhlse->bhle", seen / seen.sum(-1, keepdim=True).to(v), added)
    yield close(got, want, "out with q = 0, against the mean of the values with the vectors of their offsets,")


@requirement("FAM-SHAW-1", NEAR)
def scores_are_those_with_the_vector_of_the_offset(subject: Subject, case: Case) -> Evidence:
    yield from keys_meet_their_offsets(subject, case)


@requirement("FAM-SHAW-2", FAR)
def what_is_farther_is_as_the_farthest(subject: Subject, case: Case) -> Evidence:
    yield from keys_meet_their_offsets(subject, case)
    if subject.offers("relative-values"):
        yield from values_meet_their_offsets(subject, case)


@requirement("FAM-SHAW-3", NEAR)
def values_get_the_vector_of_their_offset(subject: Subject, case: Case) -> Evidence:
    yield from values_meet_their_offsets(subject, case)
