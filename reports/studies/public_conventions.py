"""Conventions of public code, counted: what is read off the syntax of the drawn classes and functions in clones.

    python reports/studies/public_conventions.py CLONES

reads every source of public_sources.tsv at its commit, and writes public_conventions.tsv: of each component, how many
sources give which answer to which question. Whose they are, the table does not say. `--show 12,17` prints what is read
of sources of the first part beside their code, to be checked by hand. Nothing is imported or run.
Not part of the installed package.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from attnconf.reports.studies.public_clones import clone
from attnconf.reports.studies.public_code import HERE, Source, listed, write
from attnconf.reports.studies.public_sources import definitions
from attnconf.reports.studies.reading.implementation import Reading, names_in_calls
from attnconf.reports.studies.reading.questions import QUESTIONS
from attnconf.reports.studies.reading.values import File

NOT_READ, OTHERS = "not read", "others"
RARE = 2  # a name that fewer sources have, in all components, is one of the others
CALLS, CONSTRUCTORS = "calls call it: ", "constructors call it: "
SHOWN = {  # the components of which a role of what constructors are given is asked
    "the width": ("attention", "feed-forward", "layers", "models", "norms", "positions"),
    "heads": ("attention", "layers"),
    "heads of keys": ("attention",),
    "the width of a head": ("attention",),
    "the hidden width": ("feed-forward", "layers"),
    "layers": ("models",),
    "the vocabulary": ("models",),
    "the longest length": ("positions", "models"),
    "dropout": ("attention", "feed-forward", "layers", "models", "positions"),
    "ε": ("norms", "layers"),
}
Found = dict[str, list[str]]


def reading_of(clones: Path, source: Source) -> Reading:
    """Return the reading of a source. Raises FileNotFoundError, CalledProcessError or KeyError if it is not there."""
    raw = clone(clones, source.place.repository).git("show", f"{source.place.commit}:{source.place.path}")
    file = File({node.name: node for node in definitions(source.place.path, raw)})
    return Reading(file, file.definitions[source.place.thing], source.component)


def answers(reading: Reading) -> Found:
    """Return the answers to every question that applies."""
    found: Found = {}
    for question, (components, ask) in QUESTIONS.items():
        told = ask(reading) if reading.component in components else None
        if told is not None:
            found[question] = sorted(set(told)) or [NOT_READ]
    for role, components in SHOWN.items():
        sized = reading.owner is not None or reading.component in ("norms", "positions")  # functions that make tables
        if reading.component in components and reading.sizes.given and sized:
            found[CONSTRUCTORS + role] = reading.sizes.roles.get(role) or [NOT_READ]
    return found | {CALLS + role: names or [NOT_READ] for role, names in names_in_calls(reading).items()}


def counted(read: Sequence[tuple[str, Found]]) -> Iterator[dict[str, object]]:
    """Yield the lines of the table: how many sources of a component give an answer, of how many that are asked."""
    every = [(component, question, set(told)) for component, found in read for question, told in found.items()]
    asked = Counter((component, question) for component, question, _ in every)
    everywhere = Counter((question, answer) for _, question, told in every for answer in told)
    counts: Counter[tuple[str, str, str]] = Counter()
    for component, question, told in every:
        named = question.startswith((CALLS, CONSTRUCTORS))
        common = {one for one in told if not named or everywhere[question, one] >= RARE or one == NOT_READ}
        counts.update((component, question, answer) for answer in (common | {OTHERS} if told - common else common))
    for (component, question, answer), n in sorted(counts.items(), key=lambda pair: (pair[0][:2], -pair[1], pair[0])):
        of = asked[component, question]
        yield {"component": component, "question": question, "answer": answer, "count": n, "of": of}


def show(clones: Path, source: Source) -> None:
    """Print what is read of a source of the first part beside its code; the last third stays unread."""
    if source.part != "first":
        raise SystemExit(f"{source.number} belongs to the last third, which nobody reads")
    reading = reading_of(clones, source)
    print(f"=== {source.number} {source.component}\n{ast.unparse(reading.thing)}\n")
    for question, told in answers(reading).items():
        print(f"    {question}: {', '.join(told)}")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--show", help="sources of the first part, by number: 3,17")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the tables lie (default: beside this file)")
    given = parser.parse_args(words)
    sources = listed(given.folder / "public_sources.tsv")
    if given.show:
        for source in (one for one in sources if one.number in given.show.split(",")):
            show(given.clones, source)
        return
    read = [(source.component, answers(reading_of(given.clones, source))) for source in sources]
    write(given.folder / "public_conventions.tsv", list(counted(read)))
    print(f"{len(read)} sources read")


if __name__ == "__main__":
    main()
