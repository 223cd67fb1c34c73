"""The result in words, and as data."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from attnconf.conformance.mutating.mutate import Outcome, Result

LEGEND = (
    "altering: the changed file computes something else, on inputs unlike those of the suite; harmless: it does not",
    "raising: it raises in every call, which needs no suite to be noticed",
    "rejected: its verdict is not CONFORMANT; survivors: altering, and CONFORMANT still: not noticed",
)


def lines(result: Result) -> Iterator[str]:
    """Yield what is printed: the numbers, then each survivor, and each change that was rejected though harmless."""
    altering = [o for o in result.outcomes if o.effect.altered]
    harmless = [o for o in result.outcomes if not o.effect.altered]
    raising = sum(o.effect.raises for o in altering)
    survivors, accused = [o for o in altering if o.survives], [o for o in harmless if o.accused]
    yield f"{result.file}: {', '.join(f'{v.component} {v.verdict}' for v in result.before)}"
    yield f"  changes    {len(result.outcomes)} of {result.possible}; {result.unreached} more are of what did not run"
    yield f"  altering   {len(altering)}, shown by {result.survey.situations} situations"
    yield f"  raising    {raising} of these in every call, not judged"
    yield f"  rejected   {_rejected(altering)}"
    yield f"  survivors  {len(survivors)}"
    yield f"  harmless   {len(harmless)}, of which {len(accused)} rejected"
    yield from ("", *(f"  {line}" for line in LEGEND))
    for outcome in survivors:
        shown = f"shown by  {outcome.effect.situation}: {outcome.effect.difference}"
        yield from ("", *_outcome(outcome, shown, *_instead(result, outcome)))
    for outcome in accused:
        yield from ("", *_outcome(outcome, f"harmless, but {outcome.verdict.verdict}: {outcome.verdict.reason}"))


def _instead(result: Result, outcome: Outcome) -> Iterator[str]:
    """Yield what was judged in place of what the file was judged by before."""
    now = outcome.verdict
    before = [(v.inside, v.component) for v in result.before]
    if now.inside and (now.inside, now.component) not in before:
        yield f"judged    {now.inside} as {now.component}, in place of {' and '.join(map(' as '.join, before))}"


def _rejected(altering: list[Outcome]) -> str:
    """Return how many were rejected, by verdict, and how many with a name."""
    by = Counter(o.verdict.verdict for o in altering if o.rejected)
    wrong = [o for o in altering if o.verdict.verdict == "nonconformant"]
    named = sum(bool(o.verdict.named) for o in wrong)
    parts = [f"{by.pop('nonconformant', 0)} nonconformant ({named} named, {len(wrong) - named} unnamed)"]
    parts += [f"{count} {verdict}" for verdict, count in by.items()]
    return f"{sum(o.rejected for o in altering)}: {', '.join(parts)}"


def _outcome(outcome: Outcome, *more: str) -> Iterator[str]:
    yield f"  {outcome.place}, {outcome.change.kind}"
    yield f"    before    {outcome.change.before}"
    yield f"    after     {outcome.change.after}"
    yield from (f"    {words}" for words in more)


def data(result: Result) -> dict[str, Any]:
    """Return all of it as data."""
    return {
        "schema": "attnconf-mutate/1",
        "file": result.file,
        "verdicts": [asdict(v) for v in result.before],
        "situations": result.survey.situations,
        "possible": result.possible,
        "unreached": result.unreached,
        "changes": [_change(o) for o in result.outcomes],
    }


def _change(outcome: Outcome) -> dict[str, Any]:
    change = outcome.change
    return {
        "kind": change.kind, "place": outcome.place, "line": change.line, "before": change.before,
        "after": change.after, "effect": asdict(outcome.effect), "verdict": asdict(outcome.verdict),
        "rejected": outcome.rejected, "survives": outcome.survives, "accused": outcome.accused,
    }  # fmt: skip
