"""The rows of the kill matrix as the repository keeps them, so that a change has only its own judged anew.

A row is one mutant on one component. It is kept with a digest of what it comes from: the functions of the reference
that the component reaches, the checks and presuppositions of the component's chapters, and the mutants of the mutant's
chapter. What all rows come from, the engine and what chapters share, is not in it, or every change would renew all:
tests judge other kept rows anew every day, and all with ``--in-full``.
"""

import hashlib
import inspect
import json
import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attnconf.reports
from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters import contents
from attnconf.conformance.engine.mutant import reached_by
from attnconf.conformance.run.mutant_rows import REFERENCE, Effect, Row, chapters, known, shows
from attnconf.spec import registry

KEPT = Path(str(attnconf.reports.__file__)).parent / "kill-matrix.jsonl"
_FOLDER = Path(str(contents.__file__)).parent
_DIGITS = 2  # of a ratio: other processors round otherwise


def read(path: Path = KEPT) -> dict[tuple[str, str], Row]:
    """Return the kept rows whose digest is still that of their sources, by mutant and component."""
    rows: dict[tuple[str, str], Row] = {}
    for line in _text(path).splitlines() if path.is_file() else ():
        kept = json.loads(line)
        name, component = kept["mutant"], kept["component"]
        there = component in COMPONENTS and (name == REFERENCE or name in known())
        if there and kept["digest"] == digest(name, component):
            rows[name, component] = _row(kept, rows.get((REFERENCE, component)))
    return rows


def write(rows: Iterable[Row]) -> str:
    """Return the text that keeps the rows: the reference's first, then those of mutants that show on a component."""
    of_reference = {row.component: row for row in rows if row.mutant == REFERENCE}
    shown = [r for r in rows if r.mutant != REFERENCE and shows(r.component, known()[r.mutant])]
    kept = [_kept(row, None) for row in of_reference.values()]
    kept += [_kept(row, of_reference[row.component]) for row in shown]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)


def _kept(row: Row, of_reference: Row | None) -> dict[str, Any]:
    """Return a row as plain data; what a mutant is judged by is kept as it differs from the reference's."""
    judged, usual = row.judged, of_reference.judged if of_reference else ()
    lists = {
        "judged": [r for r in judged if r not in usual],
        "spared": [r for r in usual if r not in judged],
        "roots": row.roots,
        "consequences": row.consequences,
        "raised": row.raised,
    }
    effects = {name: [_short(effect.ratio), effect.source] for name, effect in row.effects.items()}
    head = {"mutant": row.mutant, "component": row.component, "digest": digest(row.mutant, row.component)}
    full = {**lists, "odd": row.odd, "effects": effects}
    return head | {name: value for name, value in full.items() if value}


def _short(ratio: float | None) -> float | str | None:
    return "inf" if ratio == math.inf else ratio if ratio is None else float(f"{ratio:.{_DIGITS}g}")


def _row(kept: dict[str, Any], of_reference: Row | None) -> Row:
    usual: Sequence[str] = of_reference.judged if of_reference else ()
    judged = [r for r in usual if r not in kept.get("spared", ())] + kept.get("judged", [])
    effects = {
        name: Effect(None if ratio is None else float(ratio), source)
        for name, (ratio, source) in kept.get("effects", {}).items()
    }
    return Row(
        kept["mutant"],
        kept["component"],
        tuple(judged),
        tuple(kept.get("roots", ())),
        tuple(kept.get("consequences", ())),
        tuple(kept.get("raised", ())),
        kept.get("odd", {}),
        effects,
    )


def note_sources() -> None:
    """Compute all digests: later, they are those of what the sources are now."""
    for component in COMPONENTS:
        for name in (REFERENCE, *known()):
            digest(name, component)


@cache
def digest(name: str, component: str) -> str:
    """Return a digest of what a row comes from and others do not."""
    own = () if name == REFERENCE else (_mutants(known()[name].chapter),)
    return _digest(_of_component(component), *own)


@cache
def _of_component(component: str) -> str:
    functions = sorted(reached_by(component), key=lambda f: (f.__module__, f.__qualname__))
    folders = [_FOLDER / chapter for chapter in sorted(chapters(component))]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py")) if _is_of_checks(path)]
    requirements = [r for r in registry.requirements().values() if r.chapter in chapters(component)]
    sentences = [f"{r.id} {' '.join(sorted(r.presupposes))}" for r in requirements]
    return _digest(*sentences, *map(inspect.getsource, functions), *map(_text, files))


@cache
def _mutants(chapter: str) -> str:
    files = [path for path in sorted((_FOLDER / chapter).rglob("*.py")) if _is_of_mutants(path)]
    return _digest(*map(_text, files))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _is_of_checks(path: Path) -> bool:
    return not _is_of_mutants(path) and path.stem != "binding"  # what the component looks like in a file


def _is_of_mutants(path: Path) -> bool:
    return "mutants" in (path.stem, path.parent.name)


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=6).hexdigest()
