"""The cases of the chapter spec/mask_making.md, and the calls that make masks."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attnconf.adapters.contract import CausalMaskConfig, PaddingMaskConfig
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape("B L S", "{B} samples of {L} tokens; {L} queries, {S} keys")

USUAL = (
    SHAPE.case("mask-making-1", B=4, L=6, S=9),
    SHAPE.case("mask-making-2", B=3, L=7, S=8),
)
SAMPLE = (SHAPE.case("mask-making-one-sample-1", B=1, L=5, S=6),)
TOKEN = (SHAPE.case("mask-making-one-token-1", B=2, L=1, S=3),)
ONE = USUAL[:1]
IDS, LENGTHS = "ids", "lengths"


# -- the calls


@dataclass(frozen=True)
class Asked:
    """A call, and what it is about: which tokens are real, and in words how that is told."""

    call: Call
    real: Tensor  # (B, L) bool; of a mask that is causal alone, all of one sample
    how: str


def causal_call(case: Case, queries: int, keys: int) -> Call:
    """Return the call of a causal mask, whose output is (L, S)."""
    inputs = {"query_length": queries, "key_length": keys}
    config = CausalMaskConfig(case.dtype, str(case.device))
    return Call("causal_mask", config, {}, inputs, (queries, keys))


def told(component: str, case: Case, real: Tensor, how: str, padding_id: int = 0) -> Call:
    """Return the call of a mask of padding, whose output is (B, L, L): ``real`` (B, L) as ids, or as lengths."""
    B, L = real.shape
    config = PaddingMaskConfig(L, padding_id, how, case.dtype, str(case.device))
    given = real.sum(1) if how == LENGTHS else as_ids(case, real, padding_id)
    return Call(component, config, {}, {"tokens": given}, (B, L, L))


def as_ids(case: Case, real: Tensor, padding_id: int) -> Tensor:
    """Return ids from 0 to 8, of which ``padding_id`` is that of padding alone."""
    words = (case.draw("ids", *real.shape).abs() * 4).long() + 1  # 1 … 7
    words = torch.where(words == padding_id, 0, words)
    return torch.where(real, words, padding_id)


def ends(case: Case) -> Tensor:
    """Return rows that end at different places, the first of several at the end: (B, L)."""
    lengths = torch.tensor([max(1, case.L - 2 * b) for b in range(case.B)], device=case.device)
    lengths = lengths if case.B > 1 else (lengths - 2).clamp_min(1)
    return torch.arange(case.L, device=case.device) < lengths[:, None]


def holes(case: Case) -> Tensor:
    """Return rows with padding at the left, and in between, the first without any: (B, L)."""
    i, b = torch.arange(case.L, device=case.device), torch.arange(case.B, device=case.device)[:, None]
    return (i >= b) & ((i - b) % 4 != 2) | (b == 0) | (i == case.L - 1)


def ways(subject: Subject) -> tuple[str, ...]:
    """Return how a subject is told what is padding."""
    choice = subject.choice("padding-from")
    return (IDS, LENGTHS) if choice == "any" else (choice,)


def asked(subject: Subject, case: Case) -> Iterator[Asked]:
    """Yield the calls of a mask for L queries that are the keys, told in each way what is padding."""
    if subject.component == "causal_mask":
        real = torch.ones(1, case.L, dtype=torch.bool, device=case.device)
        yield Asked(causal_call(case, case.L, case.L), real, "lengths alone")
        return
    for how in ways(subject):
        for real in (ends(case), holes(case)) if how == IDS else (ends(case),):
            yield Asked(told(subject.component, case, real, how), real, how)
