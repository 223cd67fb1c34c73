"""The page of machine-made changes: what became of them in many files, from what ``attnconf mutate --json`` wrote.

    python -m attnconf.reports.mutations changes/*.json -o reports/mutations.md

Of each survivor ``mutations.toml`` says why no requirement is about it; what stands there not is open.
"""

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnconf.reports.markdown import table
from attnconf.reports.record import write_text

REASONS = Path(__file__).with_suffix(".toml")
OPEN = "open"
HEAD = """# Machine-made changes

Right files, and modules of the reference, each with one place changed by `attnconf mutate`: an operator, a constant, an axis, an argument, a call or a statement.
A change *alters* if the changed file gives other numbers on inputs that no check uses: the suite should reject it. It should not reject what alters nothing.
The changes were drawn and judged over several days, each file by the suite as it was that day.
What survived, or was rejected though it seemed to alter nothing, was judged again once what it had shown was mended;
what was rejected before was not judged again. So the figure is that of the mended suite: of the last 793 changes, 15 of the 337 that are rejected now survived at first.
A survivor with a reason below is what no requirement speaks of; it counts neither as rejected nor as missed. All others are open, and count as missed.
Made by `python -m attnconf.reports.mutations` from what `attnconf mutate FILE --limit 14 --seed 17 --json OUT` wrote.
"""  # noqa: E501
Change = Mapping[str, Any]


def page(results: Sequence[Mapping[str, Any]], reasons: Mapping[str, str]) -> str:
    """Return the page: the numbers, a line for each file, and the survivors with their reasons."""
    changes = [{**change, "file": Path(result["file"]).name} for result in results for change in result["changes"]]
    left = [(c, reasons.get(key(c), OPEN)) for c in changes if c["survives"]]
    numbers = table(("", "number"), _numbers(changes, left))
    files = table(("File", "Changes", "Alter", "Judged", "Rejected", "Survive"), _files(changes))
    survivors = table(("Survivor", "Was", "Why"), ((key(c), c["before"].strip(), why) for c, why in left))
    seeming = [
        (key(c), c["before"].strip(), c["verdict"]["reason"], reasons.get(key(c), OPEN)) for c in _accused(changes)
    ]
    rejected = table(("Change", "Was", "Verdict", "Why"), seeming)
    titles = ("## What survives", "## What is rejected though no input showed that it alters anything")
    return "\n".join([HEAD, *numbers, "", *files, "", titles[0], "", *survivors, "", titles[1], "", *rejected, ""])


def key(change: Change) -> str:
    """Return what a survivor is called: its file, its line, and what stands there now."""
    return f"{change['file']}, {change['place']}: {change['after'].strip()}"


def _numbers(changes: Sequence[Change], left: Sequence[tuple[Change, str]]) -> Iterator[tuple[str, object]]:
    judged, altering = _judged(changes), [c for c in changes if c["effect"]["altered"]]
    harmless = [c for c in changes if not c["effect"]["altered"]]
    by = Counter(c["verdict"]["verdict"] for c in judged if c["rejected"])
    named = sum(bool(c["verdict"]["named"]) for c in judged if c["verdict"]["verdict"] == "nonconformant")
    yield "changes", len(changes)
    yield "alter something", len(altering)
    yield "of these raise in every call, and are not judged", len(altering) - len(judged)
    yield "are judged", len(judged)
    yield "of these rejected", sum(by.values())
    yield from ((f"as {verdict}", n) for verdict, n in by.most_common())
    yield "with the name of a mistake", named
    missed = sum(why == OPEN for _, why in left)
    spoken = sum(by.values()) + missed
    yield "of what a requirement speaks of, rejected", f"{_share(sum(by.values()), spoken)} of {spoken}"
    yield "survive", len(left)
    yield from ((f"of these: {why}", n) for why, n in Counter(why for _, why in left).most_common())
    yield "alter nothing", len(harmless)
    yield "of these rejected all the same", sum(c["accused"] for c in harmless)


def _share(part: int, whole: int) -> str:
    """Return a part in percent, rounded down: what is missed is never rounded away."""
    return f"{1000 * part // max(whole, 1) / 10} %"


def _judged(changes: Sequence[Change]) -> list[Change]:
    return [c for c in changes if c["effect"]["altered"] and not c["effect"]["raises"]]


def _accused(changes: Sequence[Change]) -> list[Change]:
    return [c for c in changes if c["accused"]]


def _files(changes: Sequence[Change]) -> Iterator[tuple[object, ...]]:
    for file in sorted({c["file"] for c in changes}):
        mine = [c for c in changes if c["file"] == file]
        judged = _judged(mine)
        counts = (sum(c[what] for c in judged) for what in ("rejected", "survives"))
        yield file, len(mine), sum(c["effect"]["altered"] for c in mine), len(judged), *counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+", metavar="JSON")
    parser.add_argument("-o", type=Path, required=True, metavar="PAGE", dest="page")
    arguments = parser.parse_args()
    results = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.results]
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    write_text(arguments.page, page([r for r in results if r], reasons))


if __name__ == "__main__":
    main()
