"""Public implementations, judged as they lie in clones of their repositories; none of their code is kept.

``python tests/collection/public_files.py CLONES LIST OUT [--attnconf PATH] [--workers N]``

CLONES is a folder of clones, named ``owner+name`` or ``owner/name`` (with or without a work tree). LIST is a table
with the columns ``name``, ``source`` (``owner/name@commit:path``), ``class`` and ``verdict`` (what is known of it:
right, wrong or variant). Each file is judged once, by ``attnconf run`` in the tree of its commit; a file in OUT that is
there already is not judged again. At the end it prints how many came out how, and the files that came out otherwise.
"""

import argparse
import csv
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attnconf.reports.studies.public_clones import ORDER, Limits, Place, judged

WANTED = {"right": ("conformant",), "wrong": ("nonconformant", "unrecognised"), "variant": ORDER}


@dataclass(frozen=True)
class Public:
    """A line of the list."""

    name: str
    place: Place
    known: str

    @property
    def kept(self) -> str:
        """The name of the file that keeps what came out."""
        return re.sub(r"\W+", "_", self.name) + ".json"


def listed(path: Path) -> list[Public]:
    """Return the lines of a list; raises ValueError where a source is not ``owner/name@commit:path``."""
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            source = re.fullmatch(r"([^@]+)@(\w+):(.+)", row["source"])
            if source is None:
                raise ValueError(f"no source: {row['source']}")
            found.append(Public(row["name"], Place(*source.groups(), row["class"]), row["verdict"]))
    return found


def judge(one: Public, clones: Path, out: Path, attnconf: str) -> None:
    """Judge one file and write what came out to a folder, unless it is there."""
    kept = out / one.kept
    if not kept.exists():
        kept.write_text(json.dumps(judged(clones, one.place, attnconf, Limits()), indent=1), encoding="utf-8")


def told(public: list[Public], out: Path) -> str:
    """Return the table of what came out, and a line for each file that came out otherwise than what is known."""
    judged = {p: json.loads((out / p.kept).read_text(encoding="utf-8")) for p in public}
    counted = Counter((p.known, one["verdict"]) for p, one in judged.items())
    lines = [f"{known:8} {verdict:14} {n}" for (known, verdict), n in sorted(counted.items())]
    slow = sorted((one["seconds"], p.name) for p, one in judged.items())
    lines += [f"seconds: median {slow[len(slow) // 2][0]}, most {slow[-1][0]} ({slow[-1][1]})", ""]
    lines += [
        f"{p.known} | {one['verdict']} | {p.name} {p.place.label} | {', '.join(one['components'])}"
        f" | {one['reason'][:200]} | {', '.join(one['named'][:3])}"
        for p, one in judged.items()
        if one["verdict"] not in WANTED[p.known]
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--attnconf", default="attnconf")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    public = listed(given.list)
    with ThreadPoolExecutor(given.workers) as pool:
        list(pool.map(partial(judge, clones=given.clones, out=given.out, attnconf=given.attnconf), public))
    print(told(public, given.out))


if __name__ == "__main__":
    main()
