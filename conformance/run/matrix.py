"""The kill matrix: every mutant judged as if it were an implementation, by every check, on every component.

``compute`` returns plain rows. The tests assert on such rows, and ``reports.kill_matrix`` renders them:

    python -m attnconf.conformance.run.matrix                       judges what changed since its rows were kept, and
                                                                    writes them, reports/kill-matrix.md, its picture,
                                                                    and the spec's tables
    python -m attnconf.conformance.run.matrix --only ATT-unscaled   says what one mutant breaks, and writes nothing
"""

import argparse
import gc
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import attnconf.reports
from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.chapters.equivalent_mutants import equivalents
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.run import kept_rows
from attnconf.conformance.run.mutant_rows import REFERENCE, Row, judge_one, known, rows_of, shows
from attnconf.reports import kill_matrix, kill_picture
from attnconf.reports.record import write_text
from attnconf.spec import registry
from attnconf.spec.nearest import hint

REPORT = Path(str(attnconf.reports.__file__)).parent / "kill-matrix.md"


AT_ONCE = 100  # mutants that are judged until what is known is written: a run that is cut off goes on from there


def compute(kept: Mapping[tuple[str, str], Row]) -> tuple[Row, ...]:
    """Return the rows of the reference, of every mutant and of every equivalent, on every component.

    Those that are not kept are judged, in spawned processes, as torch's threads do not survive a fork.
    """
    processes, names = min(8, os.cpu_count() or 1), [REFERENCE, *known()]
    of_each: dict[str, dict[tuple[str, str], Row]] = {name: {} for name in names}
    for (name, component), row in kept.items():
        of_each[name][name, component] = row
    told = [of_each[REFERENCE] | of_each[name] for name in names]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=prepare) as pool:
        rows: list[Row] = []
        for judged, found in enumerate(pool.map(rows_of, names, told, chunksize=4), 1):
            rows += found
            if judged % AT_ONCE == 0:
                left = set(names[judged:])
                later = [row for (name, _), row in kept.items() if name in left]
                write_text(kept_rows.KEPT, kept_rows.write([*rows, *later]))
        return tuple(rows)


def prepare() -> None:
    """Set up a worker process: one thread, and no garbage collection that walks all of torch."""
    torch.set_num_threads(1)
    all_mutants()
    gc.freeze()


# -- files made from the matrix


def record(rows: tuple[Row, ...]) -> dict[str, Any]:
    """Return the matrix and the mutants' texts as plain data, for the renderer."""
    return {
        "chapters": list(registry.CHAPTERS.values()),
        "requirements": [
            {"id": r.id, "chapter": r.chapter, "strength": r.strength} for r in registry.requirements().values()
        ],
        "mutants": [_described(mutant) for mutant in all_mutants().values()],
        "equivalents": [_described(mutant) for mutant in equivalents().values()],
        "rows": [asdict(row) for row in rows],
    }


def _described(mutant: Mutant) -> dict[str, Any]:
    return {
        "id": mutant.id,
        "chapter": mutant.chapter,
        "story": mutant.story,
        "breaks": sorted(mutant.breaks),
        "hint": mutant.hint,
        "source": mutant.source,
        "silent_on": dict(mutant.silent_on),
    }


def documents(rows: tuple[Row, ...]) -> Iterator[tuple[Path, str]]:
    """Yield every file made from the mutants, with the text that it must have."""
    content = record(rows)
    yield REPORT, kill_matrix.render(content)
    yield REPORT.with_suffix(".svg"), kill_picture.picture(content)
    for chapter in registry.CHAPTERS.values():
        page = registry.PAGES / f"{chapter}.md"
        text = page.read_text(encoding="utf-8")
        if kill_matrix.has_mistakes(text, chapter):
            yield page, kill_matrix.with_mistakes(text, content, chapter)


# -- one mutant


def examine(mutant: Mutant) -> tuple[list[str], bool]:
    """Return the lines on a mutant's failures, for each component that reaches it, and whether ``breaks`` is right.

    Each component is judged by every check, without a look at the reference.
    """
    lines, agrees = [f"{mutant.id}: {mutant.story}"], True
    rows = [judge_one(mutant.id, component) for component in COMPONENTS if shows(component, mutant)]
    for row in rows:
        wanted: Set[str] = set() if row.component in mutant.silent_on else mutant.breaks & set(row.judged)
        amiss = [f"{word}: {', '.join(ids)}" for word, ids in _amiss(row, wanted) if ids]
        lines += ["", f"{row.component}: {len(row.judged)} judged", f"  roots   {', '.join(row.roots) or 'none'}"]
        lines += [f"  follow  {', '.join(row.consequences)}"] if row.consequences else []
        lines += [f"  {line}" for line in amiss]
        agrees = agrees and not amiss
    caught = {name for row in rows for name in row.roots}
    never = sorted(mutant.breaks - caught)
    lines += ["", f"breaks names what is a root nowhere: {', '.join(never)}"] if never else []
    if not caught:
        lines += [
            "",
            "no check notices it: make one see more, or prove in equivalent_mutants.md that it changes nothing",
        ]
    agrees = agrees and not never and bool(rows)
    return [*lines, "", f"breaks is {'right' if agrees else 'not right, as said above'}"], agrees


def _amiss(row: Row, wanted: Set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what the test of the matrix would refuse, in words, with the requirements' ids."""
    yield "a root that breaks does not name", sorted(set(row.roots) - wanted)
    yield "named by breaks, and no root here", sorted(wanted - set(row.roots))
    yield "neither pass nor fail", sorted(row.odd)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files that are not up to date and print their names; or print what single mutants break."""
    parser = argparse.ArgumentParser(prog="python -m attnconf.conformance.run.matrix", description="The kill matrix.")
    parser.add_argument("--only", action="append", metavar="ID", help=(
        "say what this mutant breaks, and write nothing; may be given several times"))  # fmt: skip
    parser.add_argument("--anew", action="store_true", help="judge every row, also those whose sources did not change")
    options = parser.parse_args(arguments)
    names = options.only or []
    for name in names:
        if name not in known():
            parser.error(f"there is no mutant {name!r}{hint(name, known())}")
    if names:
        prepare()
        outcomes = [examine(known()[name]) for name in names]
        print("\n\n".join("\n".join(lines) for lines, _ in outcomes))
        return 0 if all(agrees for _, agrees in outcomes) else 1
    kept_rows.note_sources()  # as they are now, should they change while the rows are judged
    rows = compute({} if options.anew else kept_rows.read())
    for path, text in [(kept_rows.KEPT, kept_rows.write(rows)), *documents(rows)]:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
            print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
