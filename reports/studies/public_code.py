"""Judges the implementations of public_sources.tsv in clones, and writes the tables of the study of public code.

    python reports/studies/public_code.py CLONES OUT --part first --workers 2

CLONES has one folder for each repository, ``owner+name`` or ``owner/name``, with or without a work tree. Each source is
judged in the tree of its commit by ``attnconf run --isolate``, with limits. What came out of each is kept in OUT, by
the number of the source; what is there already is not judged again, and what left no results is not kept. OUT is
nobody's business but yours.

The tables are written into OUT, too, and copied beside this file when a study is published. public_code.tsv has no
names, no kinds of repositories and no reasons in full: its numbers are another order, made by a key that lies in OUT,
so that the same key gives the same numbers, and nobody finds a class in it by what else is known of that. (Whoever
judges the sources again finds out, of course.) public_sums.tsv has what is wrong by kind of repository and by frame.
Not part of the installed package.
"""

import argparse
import csv
import hmac
import json
import re
import secrets
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from attnconf.reports.studies.public_clones import Limits, Place, judged

HERE = Path(__file__).parent
MISSING = r"ModuleNotFoundError|No module named|ImportError|PackageNotFoundError|cannot import name"
OTHER_FORM = r"takes fewer inputs|has many more weights|is no parameter"
Row = dict[str, str]


@dataclass(frozen=True)
class Source:
    """A line of public_sources.tsv."""

    number: str
    place: Place
    component: str
    kind: str
    frame: str
    part: str


@dataclass(frozen=True)
class Judge:
    """Where sources are judged, and how."""

    clones: Path
    out: Path
    folder: Path
    attnconf: str
    limits: Limits

    def kept(self, source: Source) -> Path:
        return self.out / f"{int(source.number):04}.json"

    def judge(self, source: Source) -> str:
        """Judge a source and keep what came out, unless it is there; return words on why it was not judged, or ""."""
        if self.kept(source).exists():
            return ""
        try:
            result = judged(self.clones, source.place, self.attnconf, self.limits, "--isolate")
        except FileNotFoundError as error:
            return f"{source.number}: {error}"
        except subprocess.CalledProcessError as error:
            words = error.stderr.decode(errors="replace").strip().splitlines() or [str(error)]
            return f"{source.number}: git says of {source.place.repository}: {words[-1]}"
        said = result["said"].strip().splitlines()
        if result["verdict"] == "no results" and said[-1:] != [f"not done in {self.limits.seconds} s"]:
            return f"{source.number}: it left no results: {said[-1] if said else 'and said nothing'}"
        half = self.kept(source).with_suffix(".part")  # what is interrupted leaves no half of a file
        half.write_text(json.dumps(result, indent=1), encoding="utf-8")
        half.replace(self.kept(source))
        return ""


def listed(path: Path) -> list[Source]:
    """Return the lines of public_sources.tsv."""
    return [
        Source(
            row["number"], Place(row["repository"], row["commit"], row["path"], row["class"]),
            row["component"], row["kind"], row["frame"], row["part"],
        )
        for row in table(path)
    ]  # fmt: skip


def key_in(out: Path) -> bytes:
    """Return the key that lies in a folder; it is made where there is none."""
    path = out / "key"
    if not path.exists():
        path.write_text(secrets.token_hex(), encoding="utf-8")
    return path.read_text(encoding="utf-8").encode()


def opaque(sources: Sequence[Source], key: bytes) -> dict[str, int]:
    """Return the published number of each source, by its own."""

    def rank(source: Source) -> str:
        return hmac.new(key, f"{source.place.repository}:{source.place.label}".encode(), "sha256").hexdigest()

    return {source.number: place for place, source in enumerate(sorted(sources, key=rank), start=1)}


def why(verdict: str, reason: str) -> str:
    """Return the kind of a reason, which says nothing of whose code it is."""
    if verdict == "conformant":
        return ""
    if verdict == "not-gradable":
        kinds = {
            MISSING: "a library is missing, or a module of its own",
            "CUDA|accelerator": "it wants a GPU",
            OTHER_FORM: "another form than any component",
            "Error": "it raises, however it is built and called",
        }
        return next((words for pattern, words in kinds.items() if re.search(pattern, reason)), "anything else")
    if "has no effect" in reason:
        return "an argument without effect"
    rule = re.search(r"\b[A-Z]+-[A-Z]+-\d\b", reason)
    return f"{rule[0]} does not hold" if rule else "an option that raises, or was not tried"


def row(number: int, source: Source, result: dict[str, Any]) -> Row:
    """Return a line of public_code.tsv."""
    return {
        "number": str(number),
        "component": source.component,
        "part": source.part,
        "verdict": result["verdict"],
        "judged_as": "; ".join(f"{component} {verdict}" for component, verdict in result["verdicts"].items()),
        "why": why(result["verdict"], result["reason"]),
        "named": "; ".join(result["named"]),
        "choices": "; ".join(f"{name}: {choice}" for name, choice in result["choices"].items()),
        "seconds": str(result["seconds"]),
    }


def tabulated(sources: Sequence[Source], judge: Judge) -> tuple[list[Row], list[Row]]:
    """Return the lines of those that were judged, in the order of their published numbers, and what they come to."""
    numbers = opaque(sources, key_in(judge.out))
    there = sorted((s for s in sources if judge.kept(s).exists()), key=lambda source: numbers[source.number])
    rows = [row(numbers[s.number], s, json.loads(judge.kept(s).read_text(encoding="utf-8"))) for s in there]
    return rows, sums(there, rows, truths_in(judge.folder))


def truths_in(folder: Path) -> dict[str, Row]:
    """Return what was found by hand, by published numbers; nothing where there is no such table."""
    path = folder / "public_truth.tsv"
    return {line["number"]: line for line in table(path)} if path.exists() else {}


def truth_of(line: Row, truths: Mapping[str, Row]) -> str:
    """Return what something is; what is conformant counts as right where nobody found otherwise."""
    if line["verdict"] == "not-gradable":
        return ""
    known = truths.get(line["number"], {}).get("truth", "right" if line["verdict"] == "conformant" else "")
    return "right" if known == "edge" else known


def sums(sources: Sequence[Source], rows: Sequence[Row], truths: Mapping[str, Row]) -> list[Row]:
    """Return how many have each verdict and are what they are, by kind of repository and by frame."""
    counts: Counter[tuple[str, ...]] = Counter()
    for source, line in zip(sources, rows, strict=True):
        for column, value in (("kind", source.kind), ("frame", source.frame)):
            counts[source.part, column, value, line["verdict"], truth_of(line, truths)] += 1
    names = ("part", "column", "value", "verdict", "truth")
    return [{**dict(zip(names, key, strict=True)), "count": str(n)} for key, n in sorted(counts.items())]


def table(path: Path) -> list[Row]:
    """Return the lines of a table with tabs."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a table with tabs."""
    lines = [list(rows[0]), *(one.values() for one in rows)]
    text = "".join("\t".join(str(value).replace("\t", " ") for value in line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, metavar="CLONES", help="the folder of clones")
    parser.add_argument("out", type=Path, metavar="OUT", help="what came out of each source, the key, and the tables")
    parser.add_argument("--part", choices=("first", "last"), required=True, help="the last one is judged once")
    parser.add_argument("--only", help="these sources, by their numbers in public_sources.tsv: 3,17")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the list lies (default: beside this file)")
    parser.add_argument("--attnconf", default="attnconf", help="the command that judges (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="sources at a time (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for one source (default: %(default)s)")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    parser = options()
    given = parser.parse_args(words)
    attnconf = shutil.which(given.attnconf)
    if attnconf is None:
        parser.error(f"no command {given.attnconf}")
    try:
        sources = listed(given.folder / "public_sources.tsv")
    except OSError as error:
        parser.error(f"--folder: {error}")
    of_part = {source.number: source for source in sources if source.part == given.part}
    only = given.only.split(",") if given.only else list(of_part)
    if unknown := [number for number in only if number not in of_part]:
        parser.error(f"--only: the {given.part} part has no source {unknown[0]}")
    given.out.mkdir(parents=True, exist_ok=True)
    judge = Judge(given.clones, given.out, given.folder, str(Path(attnconf).absolute()), Limits(given.seconds))
    with ThreadPoolExecutor(given.workers) as pool:
        said = list(tqdm(pool.map(judge.judge, map(of_part.get, only)), total=len(only), disable=None))
    rows, counts = tabulated(sources, judge)
    if rows:
        write(given.out / "public_code.tsv", rows)
        write(given.out / "public_sums.tsv", counts)
    for (component, verdict), n in sorted(Counter((r["component"], r["verdict"]) for r in rows).items()):
        print(f"{component:13} {verdict:14} {n}")
    if failed := [words for words in said if words]:
        print(*failed, sep="\n", file=sys.stderr)
        sys.exit(f"{len(failed)} of {len(only)} were not judged")


if __name__ == "__main__":
    main()
