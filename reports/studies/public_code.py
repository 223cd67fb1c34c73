"""Judges the implementations of public_sources.tsv in clones, and writes the table of the study of public code.

    python reports/studies/public_code.py CLONES OUT --part first --workers 2

Each is judged in the tree of its commit by ``attnconf run --isolate``, with limits. What came out of each is kept in
OUT, by the number of the source; what is there already is not judged again. OUT is nobody's business but yours.
public_code.tsv, which is published, has no names: its numbers are another order, made by a key that lies in OUT, so
that the same key gives the same numbers, and nobody without it knows whose they are. Not part of the installed package.
"""

import argparse
import csv
import hmac
import json
import re
import secrets
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from attnconf.reports.studies.public_clones import Limits, Place, judged

HERE = Path(__file__).parent
LONGEST = 160  # characters of a reason


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
    attnconf: str
    limits: Limits

    def kept(self, source: Source) -> Path:
        return self.out / f"{int(source.number):04}.json"

    def judge(self, source: Source) -> None:
        """Judge a source and keep what came out, unless it is there."""
        if self.kept(source).exists():
            return
        result = judged(self.clones, source.place, self.attnconf, self.limits, "--isolate")
        half = self.kept(source).with_suffix(".part")  # what is interrupted leaves no half of a file
        half.write_text(json.dumps(result, indent=1), encoding="utf-8")
        half.replace(self.kept(source))


def listed(path: Path) -> list[Source]:
    """Return the lines of public_sources.tsv."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Source(
            row["number"], Place(row["repository"], row["commit"], row["path"], row["class"]),
            row["component"], row["kind"], row["frame"], row["part"],
        )
        for row in rows
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


def shortened(reason: str, place: Place) -> str:
    """Return a reason on one line without what would say whose it is: quotations, files and names."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", " ".join(reason.split()))
    text = re.sub(r"\S+\.(py|ipynb)\S*", "…", text)
    for name in {place.thing, Path(place.path).stem, *place.repository.split("/")}:
        text = re.sub(rf"\b{re.escape(name)}\b", "…", text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def row(number: int, source: Source, result: dict[str, Any]) -> dict[str, object]:
    """Return a line of public_code.tsv."""
    return {
        "number": number,
        "component": source.component,
        "kind": source.kind,
        "frame": source.frame,
        "part": source.part,
        "verdict": result["verdict"],
        "judged_as": "; ".join(f"{component} {verdict}" for component, verdict in result["verdicts"].items()),
        "reason": shortened(result["reason"], source.place),
        "named": "; ".join(result["named"]),
        "choices": "; ".join(f"{name}: {choice}" for name, choice in result["choices"].items()),
        "seconds": result["seconds"],
    }


def tabulated(sources: Sequence[Source], judge: Judge) -> list[dict[str, object]]:
    """Return the lines of those that were judged, in the order of their published numbers."""
    numbers = opaque(sources, key_in(judge.out))
    there = [source for source in sources if judge.kept(source).exists()]
    return [
        row(numbers[s.number], s, json.loads(judge.kept(s).read_text(encoding="utf-8")))
        for s in sorted(there, key=lambda source: numbers[source.number])
    ]


def write(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write a table with tabs."""
    lines = [list(rows[0]), *(one.values() for one in rows)]
    text = "".join("\t".join(str(value).replace("\t", " ") for value in line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=("first", "last"), required=True, help="the last one is judged once")
    parser.add_argument("--only", help="these sources, by number: 3,17")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the tables lie (default: beside this file)")
    parser.add_argument("--attnconf", default="attnconf")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for one source (default: %(default)s)")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    given = options().parse_args(words)
    given.out.mkdir(parents=True, exist_ok=True)
    sources = listed(given.folder / "public_sources.tsv")
    only = given.only.split(",") if given.only else [source.number for source in sources]
    wanted = [source for source in sources if source.part == given.part and source.number in only]
    judge = Judge(given.clones, given.out, given.attnconf, Limits(given.seconds))
    with ThreadPoolExecutor(given.workers) as pool:
        list(tqdm(pool.map(judge.judge, wanted), total=len(wanted), disable=None))
    rows = tabulated(sources, judge)
    if rows:
        write(given.folder / "public_code.tsv", rows)
    for (component, verdict), n in sorted(Counter((str(r["component"]), str(r["verdict"])) for r in rows).items()):
        print(f"{component:13} {verdict:14} {n}")


if __name__ == "__main__":
    main()
