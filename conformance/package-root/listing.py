"""``attnconf list``: names of adapters, requirements, mutants, …, read off the files without torch."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable

from attnconf.conformance.engine import catalogue
from attnconf.spec import profiles, registry

Rows = list[tuple[str, ...]]


def lines(kind: str | None = None) -> list[str]:
    """Return an aligned list of one kind, or of all kinds under headings."""
    if kind is not None:
        return _aligned(_ROWS[kind]())
    blocks = []
    for name, rows in _ROWS.items():
        blocks += ["", name, *(f"  {line}" for line in _aligned(rows(), indent=2))]
    return blocks[1:]


def _aligned(rows: Rows, indent: int = 0) -> list[str]:
    """Return the rows in columns, the last of them shortened to the terminal's width (unless that is narrow)."""
    if not rows:
        return ["(none)"]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    left = max(shutil.get_terminal_size((120, 24)).columns - indent - sum(widths) - 2 * len(widths), 30)
    return [
        "  ".join([*(c.ljust(w) for c, w in zip(row[:-1], widths, strict=True)), _shortened(row[-1], left)]).rstrip()
        for row in rows
    ]


def _shortened(text: str, width: int) -> str:
    """Return the text, or as many of its words as fit; textwrap.shorten takes a tenth of a second over a thousand."""
    return text if len(text) <= width else text[: width - 1].rpartition(" ")[0] + " …"


def _implementations() -> Rows:
    from importlib.metadata import entry_points  # slow, and --help does not need it

    shipped = list(catalogue.adapter_texts().items())
    offered = [(p.name, f"entry point {p.value}") for p in entry_points(group="attnconf.adapters")]
    return [*shipped, *sorted(offered)]


def _chapters() -> Rows:
    return [
        (prefix, chapter, _counted(r.strength for r in registry.requirements().values() if r.chapter == chapter),
         f"{sum(m.chapter == chapter for m in catalogue.mutant_texts().values())} mutants")
        for prefix, chapter in registry.CHAPTERS.items()
    ]  # fmt: skip


def _requirements() -> Rows:
    return [(r.id, r.strength, r.sentence) for r in registry.requirements().values()]


def _mutants() -> Rows:
    return [(m.id, _first(m.breaks), m.story) for m in catalogue.mutant_texts().values()]


def _first(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:1]) + (f" and {len(ids) - 1} more" if len(ids) > 1 else "")


def _profiles() -> Rows:
    rows: Rows = []
    for name in profiles.names():
        profile = profiles.load(name)
        entries = _counted("optional" if e.optional else "required" for e in profile.entries)
        title = profile.title + (" (the default)" if name == profiles.DEFAULT else "")
        rows.append((name, _first(tuple(dict.fromkeys(e.component for e in profile.entries))), entries, title))
    return rows


def _counted(words: Iterable[str]) -> str:
    return ", ".join(f"{n} {word}" for word, n in Counter(words).items())


_ROWS: dict[str, Callable[[], Rows]] = {
    "implementations": _implementations,
    "chapters": _chapters,
    "requirements": _requirements,
    "mutants": _mutants,
    "profiles": _profiles,
}
