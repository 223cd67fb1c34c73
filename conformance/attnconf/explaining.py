"""``attnconf explain ID``: a requirement or a mutant in full, read off the files, without torch."""

import difflib
import textwrap
from collections.abc import Iterable

from attnconf.conformance import names
from attnconf.spec import profiles, registry

WIDTH = 100


def explain(name: str) -> list[str]:
    """Return the lines on a requirement or a mutant, whatever the case of its id. Raises KeyError with a message."""
    requirements = {r.id.upper(): r for r in registry.requirements().values()}
    mutants = {m.id.upper(): m for m in names.mutant_texts().values()}
    if name.upper() in requirements:
        return _requirement(requirements[name.upper()])
    if name.upper() in mutants:
        return _mutant(mutants[name.upper()])
    known = {key: r.id for key, r in requirements.items()} | {key: m.id for key, m in mutants.items()}
    begun = [key for key in known if key.startswith(name.upper())] if name else []
    close = begun or difflib.get_close_matches(name.upper(), known, n=1)
    hint = f"; nearest: {known[close[0]]}" if close else "; attnconf list shows all"
    raise KeyError(f"{name!r} is neither a requirement nor a mutant{hint}")


def _requirement(r: registry.Requirement) -> list[str]:
    check = names.check_texts(r.chapter).get(r.id)
    mutants = [(m.id, m.story) for m in names.mutant_texts().values() if r.id in m.breaks]
    return [
        f"{r.id}  ({r.strength}, chapter {r.chapter})",
        *_wrapped(r.sentence),
        "",
        *_notes(r),
        *_field("presupposes", _paired((other, registry.get(other).sentence) for other in r.presupposes)),
        *_field("needs", [", ".join(sorted(r.needs))] if r.needs else []),
        *_field("judged on", _judged_on(r)),
        *_field("broken by", _paired(mutants) or ["no known mistake"]),
        *_field("check", [f"{check.function} (conformance/{check.chapter}.py:{check.line})" if check else "none yet"]),
        *_field("page", [r.anchor]),
        *_field("run", [f"attnconf run --impl NAME -k {r.id}"]),
    ]


def _mutant(m: names.MutantText) -> list[str]:
    return [
        f"{m.id}  (mutant, chapter {m.chapter})",
        *_wrapped(m.story),
        "",
        *_field("breaks", _paired((broken, registry.get(broken).sentence) for broken in m.breaks)),
        *_field("hint", _folded(m.hint)),
        *_field("seen in", _folded(m.source) if m.source else []),
        *_field("file", [f"conformance/mutants/{m.chapter}.py:{m.line}"]),
    ]


def _notes(r: registry.Requirement) -> list[str]:
    """Return what the page says below the requirement, up to the next heading."""
    page = (registry.PAGES / f"{r.chapter}.md").read_text(encoding="utf-8").splitlines()
    below: list[str] = []
    for line in page[r.line + 1 :]:
        if line.startswith("#"):
            break
        below.append(line)
    if below and below[0].startswith(("presupposes:", "needs:")):
        below = below[1:]
    found: list[str] = []
    fenced = False
    for line in (line.removeprefix(">").removeprefix(" ") for line in below):
        fenced ^= line.startswith("```")
        found += [f"  {line}"] if fenced or line.startswith("```") else _wrapped(line) or [""]
    text = "\n".join(found).strip("\n")
    return [*text.split("\n"), ""] if text else []


def _judged_on(r: registry.Requirement) -> list[str]:
    """Return where each profile judges a requirement."""
    found = []
    for name in profiles.names():
        entries = [e for e in profiles.load(name).entries if e.requirement == r.id]
        places = ", ".join(f"{e.component} ({e.lens}{', optional' if e.optional else ''})" for e in entries)
        found += [f"{name}: {places}"] if places else []
    return found


def _paired(pairs: Iterable[tuple[str, str]]) -> list[str]:
    found = []
    for name, text in pairs:
        found += [name, *(f"  {line}" for line in _folded(text))]
    return found


def _field(name: str, lines: list[str]) -> list[str]:
    return [f"  {label:<12} {line}" for label, line in zip([name, *[""] * len(lines)], lines, strict=False)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 17)
