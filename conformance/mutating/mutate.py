"""All of it for one file: make the changes, tell which alter something, and ask which of these are rejected."""

import queue
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnconf.conformance.mutating import changes, effects, judged
from attnconf.conformance.mutating.changes import Change
from attnconf.conformance.mutating.effects import Effect, Survey
from attnconf.conformance.mutating.judged import Verdict
from attnconf.conformance.mutating.situations import Bound
from attnconf.conformance.mutating.workers import Lost, Refused, Worker
from attnconf.conformance.source.file_text import python_of, raw_bytes
from attnconf.conformance.source.not_loaded import NotLoaded

PROCESSES = 2
AT_LEAST, SLOWER, FIRST = (
    10.0,
    8.0,
    600.0,
)  # seconds for a changed file, and times as long as the original, which gets FIRST
NOT_JUDGED = Verdict("", "not judged", "it raises in every call")


class MutateError(Exception):
    """The caller's mistake, or a file of which nothing can be asked, in one line."""


@dataclass(frozen=True)
class Outcome:
    """One change, what it alters, and the verdict on the file with it."""

    change: Change
    place: str
    effect: Effect
    verdict: Verdict

    @property
    def rejected(self) -> bool:
        return self.verdict.verdict not in ("conformant", NOT_JUDGED.verdict)

    @property
    def survives(self) -> bool:
        return self.effect.altered and self.verdict.verdict == "conformant"

    @property
    def accused(self) -> bool:
        """Whether it is rejected although nothing is altered."""
        return not self.effect.altered and self.rejected


@dataclass(frozen=True)
class Result:
    """What became of the changes of one file."""

    file: str
    before: tuple[Verdict, ...]
    survey: Survey
    possible: int  # changes of lines that ran
    unreached: int  # changes of lines that did not
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Original:
    """The file as it is: its text, its verdicts, its bindings, and how it ran."""

    path: str
    suffix: str  # ":Class@component", as it was asked for
    text: str
    before: tuple[Verdict, ...]
    bound: tuple[Bound, ...]
    survey: Survey
    seconds: tuple[float, float]  # that the survey took, and the verdicts


def mutate(
    typed: str, limit: int, seed: int, tell: Callable[[int, int], None] = lambda done, of: None,
    at_least: float = AT_LEAST,
) -> Result:  # fmt: skip
    """Return what becomes of ``limit`` changes of a file, drawn by ``seed``. Raises MutateError."""
    path, suffix = _parts(typed)
    try:
        text, cells = python_of(Path(path), raw_bytes(Path(path)))
    except NotLoaded as error:
        raise MutateError(f"{typed}: {error}") from None
    with _workers() as ask:
        original = _original(ask, typed, path, text, suffix)
        every, possible = len(changes.changes(text)), changes.changes(text, original.survey.ran)
        chosen = sorted(random.Random(seed).sample(possible, min(limit, len(possible))), key=lambda c: c.line)
        outcomes: list[Outcome] = []

        def one(change: Change) -> Outcome:
            found = _effect(ask, original, change, at_least)
            verdict = NOT_JUDGED if found.raises else _verdict(ask, original, change, at_least)
            return Outcome(change, cells.place(change.line) if cells else f"line {change.line}", found, verdict)

        with ThreadPoolExecutor(PROCESSES) as pool:
            for outcome in pool.map(one, chosen):
                outcomes.append(outcome)
                tell(len(outcomes), len(chosen))
    return Result(typed, original.before, original.survey, len(possible), every - len(possible), tuple(outcomes))


def _parts(typed: str) -> tuple[str, str]:
    """Return the path of a file, and what stands behind it. Raises MutateError."""
    for ending in (".py", ".ipynb"):
        path, found, suffix = typed.partition(ending)
        if found and Path(path + found).is_file() and (not suffix or suffix[0] in ":@"):
            return path + found, suffix
    raise MutateError(f"{typed}: there is no such .py file or notebook")


Ask = Callable[..., Any]


@contextmanager
def _workers() -> Iterator[Ask]:
    """Give a function that has a free process do something; each thread may call it."""
    free: queue.LifoQueue[Worker] = queue.LifoQueue()  # one that has begun before one that has not
    workers = [Worker() for _ in range(PROCESSES)]
    for worker in workers:
        free.put(worker)

    def ask(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
        worker = free.get()
        try:
            return worker.ask(seconds, function, *args)
        finally:
            free.put(worker)

    try:
        yield ask
    finally:
        for worker in workers:
            worker.end()


def _original(ask: Ask, typed: str, path: str, text: str, suffix: str) -> Original:
    """Return what is known of the file as it is. Raises MutateError if nothing in it conforms, or it cannot be run."""
    try:
        start = time.monotonic()
        before: list[Verdict] = ask(FIRST, judged.judge, path, text, suffix)
        conform = {v.component for v in before if v.verdict == "conformant"}
        if not conform:
            why = f"{before[0].verdict} itself ({before[0].reason})"
            raise MutateError(f"{typed} is {why}: only changes of what conforms can be judged")
        judging = time.monotonic() - start
        bound = tuple(b for b in ask(FIRST, judged.binding, path, text, suffix) if b.component in conform)
        start = time.monotonic()
        seen: Survey = ask(FIRST, effects.survey, path, text, bound)
    except (Lost, Refused) as error:
        raise MutateError(f"{typed}: {error}") from None
    if not seen.situations:
        raise MutateError(f"{typed}: {', '.join(sorted(conform))} cannot be run beside a changed file")
    return Original(path, suffix, text, tuple(before), bound, seen, (time.monotonic() - start, judging))


def _effect(ask: Ask, original: Original, change: Change, at_least: float) -> Effect:
    """Return what a change alters; one whose code does not come back alters it, too."""
    seconds = at_least + SLOWER * original.seconds[0]
    try:
        found: Effect = ask(seconds, effects.effect, original.path, original.text, original.bound, change.text)
    except (Lost, Refused) as error:
        return Effect(True, "running it", str(error))
    return found


def _verdict(ask: Ask, original: Original, change: Change, at_least: float) -> Verdict:
    """Return the verdict on a changed file; one that cannot be read, or does not end, has a verdict of that name."""
    seconds = at_least + SLOWER * original.seconds[1]
    try:
        after = ask(seconds, judged.judge, original.path, change.text, original.suffix)
    except Lost as error:
        return Verdict("", "ended", str(error))
    except Refused as error:
        return Verdict("", "not-gradable", str(error))
    return judged.worst(original.before, after)
