"""Whether a change alters what a file computes: the original and the changed one run side by side."""

import contextlib
import io
import math
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.mutating.changes import Ran
from attnconf.conformance.mutating.copies import beside
from attnconf.conformance.mutating.situations import Answer, Bound, Situation, situations
from attnconf.conformance.source.exception_words import named
from attnconf.conformance.source.reader import read

ROUNDING = 1e-6  # of what is largest: the suite's own bound in float64, which leaves room for a float32 inside
TINY = 1e-9  # what is 0 by definition, like the slope of a key bias, is rounding itself
AT_MOST = 1200  # situations of a file


@dataclass(frozen=True)
class Effect:
    """What a change does: ``altered``, and the situation that shows it; ``raises``: it only ever raises."""

    altered: bool
    situation: str = ""
    difference: str = ""
    raises: bool = False


@dataclass(frozen=True)
class Survey:
    """What the original does in all situations: how many there are, and what of its text they ran."""

    situations: int
    ran: Ran = field(default_factory=Ran)


def survey(path: str, text: str, bound: Sequence[Bound]) -> Survey:
    """Return what the original answers, once all situations have been tried on it; they are kept in this process."""
    kept, ran = _wanted(path, text, tuple(bound))
    return Survey(len(kept), ran)


def effect(path: str, text: str, bound: Sequence[Bound], changed: str) -> Effect:
    """Return what a changed text does that the original does not; the first difference is enough."""
    kept, _ = _wanted(path, text, tuple(bound))
    failures: list[Effect] = []
    with _module(path, changed) as module:
        if isinstance(module, str):
            return Effect(True, "reading the file", module, raises=True)
        for situation, wanted in kept:
            got = _answer(situation, module)
            if isinstance(got, str):
                failures.append(Effect(True, situation.words, f"raises {got}", raises=True))
                if len(failures) < 40:
                    continue
                return failures[0]
            difference = _difference(wanted, got)
            if difference:
                return Effect(True, situation.words, difference)
    whole = len(failures) == len(kept)
    return Effect(True, failures[0].situation, failures[0].difference, whole) if failures else Effect(False)


@contextlib.contextmanager
def default_kept() -> Iterator[None]:
    """Restore torch's default dtype, which a binding may set until a call is over."""
    default = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(default)


@contextlib.contextmanager
def _module(path: str, text: str) -> Iterator[ModuleType | str]:
    """Give a text as a module that stands where the file does, or why it cannot be read."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            module: ModuleType | str = read(beside(Path(path), text, Path(folder))).module
        except Exception as error:
            module = named(error)
        yield module


Kept = tuple[list[tuple[Situation, Answer]], Ran]


@cache
def _wanted(path: str, text: str, bound: tuple[Bound, ...]) -> Kept:
    """Return the situations that the original answers, twice alike, and what of its text they ran."""
    torch.set_num_threads(1)
    kept: list[tuple[Situation, Answer]] = []
    with default_kept(), _module(path, text) as module:
        if isinstance(module, str):
            return [], Ran()
        ran = _Lines(str(module.__file__))
        for one in bound:
            mine = 0
            for situation in situations(one, module):
                with ran:
                    answer = _answer(situation, module)
                again = answer if isinstance(answer, str) else _answer(situation, module)
                if not isinstance(answer, str) and not isinstance(again, str) and not _difference(answer, again):
                    kept.append((situation, answer))
                    mine += 1
                if mine >= AT_MOST / len(bound):
                    break
    return _in_order(path, text, _mixed(kept)), Ran(frozenset(ran.lines), frozenset(ran.names))


def _in_order(path: str, text: str, kept: list[tuple[Situation, Answer]]) -> list[tuple[Situation, Answer]]:
    """Return the situations that give the same in this order, in which a changed file is asked.

    A binding that sets globals of the file changes what comes after it.
    """
    with default_kept(), _module(path, text) as module:
        if isinstance(module, str):
            return []
        answers = [(situation, wanted, _answer(situation, module)) for situation, wanted in kept]
    return [(s, wanted) for s, wanted, got in answers if not isinstance(got, str) and not _difference(wanted, got)]


def _mixed(kept: list[tuple[Situation, Answer]]) -> list[tuple[Situation, Answer]]:
    """Return situations in an order that soon tries one of every kind."""
    step = max(1, math.isqrt(len(kept)))
    return [one for start in range(step) for one in kept[start::step]]


class _Lines:
    """While entered, notes the lines of one file that run, and the names that they read."""

    def __init__(self, filename: str):
        self.filename, self.lines, self.names = filename, set[int](), set[str]()

    def __enter__(self) -> None:
        sys.settrace(self._called)
        threading.settrace(self._called)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self.filename:
            return None
        self.lines.add(frame.f_lineno)
        self.names.update(frame.f_code.co_names)
        return self._called


def _answer(situation: Situation, module: ModuleType) -> Answer | str:
    """Return what a situation gives, or the exception in words."""
    printed = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed),
            warnings.catch_warnings(action="ignore"), default_kept(),
        ):  # fmt: skip
            return situation.run(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too
        return named(error)


def _difference(wanted: Answer, got: Answer) -> str:
    """Return the first difference of two answers in words, or ""."""
    if [at for at, _ in wanted] != [at for at, _ in got]:
        there = [at for at, _ in wanted if at not in dict(got)] or [at for at, _ in got if at not in dict(wanted)]
        return f"{there[0] if there else 'the order of outputs'}: only one of the two has it"
    pairs = ((at, a, b) for (at, a), (_, b) in zip(wanted, got, strict=True))
    return next((f"{at}: {words}" for at, a, b in pairs if (words := _unlike(a, b))), "")


def _unlike(a: Any, b: Any) -> str:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return "" if type(a) is type(b) and a == b else f"was {_short(a)}, is {_short(b)}"
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"was {_short(a)}, is {_short(b)}"
    if not a.numel():
        return ""
    a, b = (x.resolve_conj().to(torch.complex128 if x.is_complex() else torch.float64).flatten() for x in (a, b))
    same = (a == b) | (a.isnan() & b.isnan())
    finite = a[a.isfinite()]
    bound = ROUNDING * float(finite.abs().max() if finite.numel() else 0.0) + TINY
    far = (a - b).abs().nan_to_num(float("inf"), float("inf")).masked_fill(same, 0.0)
    if float(far.max()) <= bound:
        return ""
    worst = int(far.argmax())
    return f"was {a[worst].item():.6g}, is {b[worst].item():.6g} (element {worst} of {a.numel()})"


def _short(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"{str(x.dtype).removeprefix('torch.')} {tuple(x.shape)}"
    return f"{x!r:.80}"
