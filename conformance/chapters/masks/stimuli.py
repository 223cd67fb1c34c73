"""What the checks of masks share: masks to hide keys with, what to put in hidden slots, and what empty rows give."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention.stimuli import SHAPE
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, Failure, Unsupported
from attnconf.conformance.engine.request import Reply
from attnconf.conformance.engine.subject import Subject

# -- the cases


SQUARE = (
    SHAPE.case("square-1", B=2, H=3, L=5, E=7, F=8, S=5),
    SHAPE.case("square-2", B=3, H=2, L=7, E=11, F=13, S=7),
)
ONE_SQUARE = SQUARE[:1]
# padding: queries as many as keys, and samples as many as queries, heads or keys
PADDED = (
    SHAPE.case("padded-square-1", B=3, H=2, L=5, E=7, F=8, S=5),
    SHAPE.case("padded-batch-is-L-2", B=4, H=3, L=4, E=7, F=6, S=5),
    SHAPE.case("padded-batch-is-H-3", B=3, H=3, L=4, E=7, F=6, S=5),
)
LONG_SQUARE = (SHAPE.case("long-square-1", B=1, H=2, L=131, E=5, F=3, S=131),)


def whole(x: Tensor, case: Case) -> Tensor:
    """Return a mask or bias in its full shape (B, H, L, S)."""
    return x.expand(case.B, case.H, case.L, case.S).contiguous()


def keeping(case: Case, *hidden: int) -> Tensor:
    """Return a mask (S,) that hides the given keys."""
    keep = torch.ones(case.S, dtype=torch.bool, device=case.device)
    keep[list(hidden)] = False
    return keep


def some(case: Case, *shape: int) -> Tensor:
    """Return a mask of this shape that allows and hides some keys in every row, in no regular pattern."""
    x = case.draw("mask", *shape)
    return x > x.mean(dim=-1, keepdim=True)


def replies(subject: Subject, case: Case, calls: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Reply]]:
    """Yield the replies by name, without those calls that an adapter says it does not do, unless it does none.

    A call with masks and causality together may be refused with an error as well.
    """
    words, supported = None, False
    for name, options in calls.items():
        try:
            reply = subject.attend(case.q, case.k, case.v, **options)
        except Unsupported as unsupported:
            words = unsupported
            continue
        except Failure as failure:
            if failure.reason == "raised" and options.get("causal") and len(options) > 1:
                continue
            raise
        supported = True
        yield name, reply
    if words and not supported:
        raise words


def poisoned(x: Tensor, keep: Tensor, size: float) -> Tensor:
    """Return ``x`` (…, S, width) with ±size in the slots of hidden keys."""
    return torch.where(keep[:, None], x, size * x.sign())


def low_scores(case: Case, keep: Tensor, size: float = 1e5) -> tuple[Tensor, Tensor]:
    """Return q and k with scores of -size at the keys kept and 0 at the others.

    One non-zero product in every score: rounding is the same for all of them, in float32 too.
    """
    q, k = torch.zeros_like(case.q), torch.zeros_like(case.k)
    q[..., 0] = -1024.0
    k[:, :, keep, 0] = size / 1024 * case.E**0.5
    return q, k


def lower_shapes(case: Case) -> list[tuple[int, ...]]:
    """Return shapes of two to four axes that broadcast to (B, H, L, S)."""
    B, H, L, S = case.B, case.H, case.L, case.S
    return [(L, S), (H, L, S), (1, 1, 1, S), (B, 1, 1, S), (1, H, 1, S), (B, 1, L, S), (B, H, 1, S)]


def with_empty_rows(case: Case) -> tuple[Tensor, Tensor]:
    """Return a mask (B, H, L, S) that leaves two queries without a key, and which these are (B, H, L)."""
    mask = some(case, case.B, case.H, case.L, case.S).clone()
    mask[0, :, 1] = mask[-1, :, -1] = False  # in all heads: a NaN in one reaches the others in an output projection
    return mask, ~mask.any(dim=-1)


def choice_made(out: Tensor, case: Case, empty: Tensor) -> str:
    """Return what the empty rows of ``out`` are: zeros, nan, mean, or something else."""
    rows, mean = out[empty], case.v.mean(dim=2, keepdim=True).expand_as(out)[empty]
    if bool((rows == 0).all()):
        return "zeros"
    if bool(rows.isnan().all()):
        return "nan"
    return "mean" if bool(((rows - mean).abs() <= SEMANTIC * mean.abs().max()).all()) else "something else"
