"""Checks of the chapter spec/attention_family.md: windows. Queries stand where the keys of their number do."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention.stimuli import SHAPE as ATTENTION
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]
Window = tuple[int | None, int | None]

SQUARE = (ATTENTION.case("square-1", B=2, H=3, L=9, E=7, F=5, S=9),)
WINDOWS: tuple[Window, ...] = ((2, 1), (0, 3), (4, None), (None, 0))


def windows(subject: Subject) -> tuple[Window, ...]:
    """Return the windows to ask for: none beyond the query where attention is causal, or ALiBi has to be undone."""
    back = subject.choice("causality") == "always" or subject.choice("positions-inside") == "alibi"
    return tuple((left, 0) for left, _ in WINDOWS if left) if back else WINDOWS


def seen(window: Window, length: int) -> Tensor:
    """Return which keys lie within the window of each query, (L, L)."""
    left, right = (length if side is None else side for side in window)
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    return (-left <= distance) & (distance <= right)


@requirement("FAM-WINDOW-1", SQUARE)
def a_key_beyond_the_window_has_no_effect(subject: Subject, case: Case) -> Evidence:
    k, v = (case.draw(f"other {name}", *x.shape) * 1e2 for name, x in (("k", case.k), ("v", case.v)))
    for window in windows(subject):
        near = seen(window, case.L).to(case.device)
        want = subject.attend(case.q, case.k, case.v, window=window).out
        for i in range(case.L):
            beyond = ~near[i][:, None]
            other_k, other_v = torch.where(beyond, k, case.k), torch.where(beyond, v, case.v)
            got = subject.attend(case.q, other_k, other_v, window=window).out
            yield close(got[:, :, i], want[:, :, i], f"out of query {i} with other keys outside of {window}")


@requirement("FAM-WINDOW-2", SQUARE)
def every_key_within_the_window_counts(subject: Subject, case: Case) -> Evidence:
    """Equal scores (q = 0) weigh every key of the window alike: the output is the mean of their values."""
    for window in windows(subject):
        near = seen(window, case.L).to(case.v)
        want = (near / near.sum(-1, keepdim=True)) @ case.v
        got = subject.attend(torch.zeros_like(case.q), case.k, case.v, window=window).out
        yield close(got, want, f"out with q = 0 in a window of {window}, against the mean of the values in it,")


@requirement("FAM-WINDOW-3", SQUARE)
def causality_holds_within_a_window(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v, window=(2, 0), causal=True).out
    got = subject.attend(case.q, case.k, case.v, window=(2, 3), causal=True).out
    yield close(got, want, "causal out in a window of (2, 3), against (2, 0),")
