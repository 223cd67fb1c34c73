"""A difference as lines for the terminal, and as Markdown."""

from collections.abc import Iterator, Sequence

from attnconf.reports.comparison.visible import visible
from attnconf.reports.diff.changes import KINDS, Change, Difference
from attnconf.reports.failures import wrapped
from attnconf.reports.markdown import table

TITLES = {
    "worse": "Worse",
    "vanished": "No longer judged",
    "unjudged": "Not judged in one of the two",
    "appeared": "New",
    "better": "Better",
}
HEAD = ("requirement", "implementation", "before", "after", "why")
MOST_WORDS = 200  # characters of a reason in Markdown


def lines(found: Difference, width: int) -> list[str]:
    """Return the difference in lines: what got worse first, and the counts last."""
    content = [f"from {found.names[0]} to {found.names[1]}", *found.notes]
    for kind in KINDS:
        for of_one in _by_implementation(found.of(kind)):
            content += ["", f"{TITLES[kind].upper()}: {_name(of_one[0])}"]
            content += [line for change in of_one for line in _line(change, width)]
    return [*map(visible, content), "", counts(found)]


def _by_implementation(changes: Sequence[Change]) -> Iterator[list[Change]]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(_name(change), []).append(change)
    yield from groups.values()


def _name(change: Change) -> str:
    return change.implementation + (f" ({change.component})" if change.component else "")


def _line(change: Change, width: int) -> list[str]:
    states = " -> ".join(state for state in (change.before, change.after) if state)
    head = f"  {change.what or 'all of it':<14} {states}" + (":" if change.why else "")
    if not change.why:
        return [head]
    if len(head) + len(change.why) + 1 <= width:
        return [f"{head} {change.why}"]
    return [head, *(f"{'':<17}{line}" for line in wrapped(change.why, width - 17))]


def counts(found: Difference) -> str:
    """Return the number of changes of each kind, and whether anything is a regression."""
    numbers = [f"{len(found.of(kind))} {word}" for kind, word in _COUNTED.items() if found.of(kind)]
    end = f"{len(found.regressions)} regressions" if len(found.regressions) != 1 else "1 regression"
    none = "no regression in what both have judged" if found.of("unjudged") else "no regression"
    return f"{end if found.regressions else none}: {', '.join([*numbers, f'{found.same} as before'])}"


_COUNTED = {"worse": "worse", "vanished": "no longer judged", "appeared": "new", "better": "better"}


def markdown(found: Difference) -> str:
    """Return the difference as Markdown: what got better or is new is folded."""
    content = ["# What changed", "", f"From `{found.names[0]}` to `{found.names[1]}`: **{counts(found)}**."]
    for note in found.notes:
        content += ["", f"> {note}"]
    for kind in KINDS:
        rows = [
            (c.what or "all of it", _name(c), c.before, c.after, visible(c.why)[:MOST_WORDS]) for c in found.of(kind)
        ]
        if not rows:
            continue
        if kind in ("worse", "vanished"):
            content += ["", f"## {TITLES[kind]}", "", *table(HEAD, rows)]
        else:
            content += ["", f"<details><summary>{TITLES[kind]}: {len(rows)}</summary>", "", *table(HEAD, rows), ""]
            content += ["</details>"]
    return "\n".join(content) + "\n"
