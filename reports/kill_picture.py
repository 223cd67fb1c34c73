"""The kill matrix as a picture: requirements by mutants, with a dot where a mutant is caught by that requirement."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from attnconf.reports.kill_matrix import killers

Record = dict[str, Any]

ROW, COLUMN = 1.5, 0.7  # the height of a requirement, the width of a mutant
LEFT, TOP, RIGHT, BOTTOM = 150, 28, 10, 10  # around the dots
STYLE = (
    "text{font:11px 'DejaVu Sans',Verdana,sans-serif;fill:#444}"
    ".bands{fill:#8882}.dots{stroke:#b3261e;stroke-width:2;stroke-linecap:round}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}.dots{stroke:#ff8a80}}"
)


def picture(record: Record) -> str:
    """Return the SVG of a matrix, as ``kill_matrix.render`` takes it. Both axes are in the order of the chapters."""
    chapters = record["chapters"]
    mutants, requirements = (_by_chapter(record[key], chapters) for key in ("mutants", "requirements"))
    right, bottom = (round(LEFT + len(mutants) * COLUMN, 1), round(TOP + len(requirements) * ROW, 1))
    words = f"{len(requirements)} requirements, {len(mutants)} mutants: a dot where the one catches the other"
    sizes = (
        f'width="{right + RIGHT:g}" height="{bottom + BOTTOM:g}" viewBox="0 0 {right + RIGHT:g} {bottom + BOTTOM:g}"'
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {sizes} role="img" aria-label="{words}">',
        f"<title>{words}</title>",
        f"<style>{STYLE}</style>",
        f'<text x="{LEFT}" y="16">{len(mutants)} mutants, chapter by chapter →</text>',
        *_bands(chapters, [r["chapter"] for r in requirements], [m["chapter"] for m in mutants]),
        f'<path class="dots" d="{"".join(_dots(record, mutants, requirements))}"/>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _by_chapter(things: Sequence[Record], chapters: Sequence[str]) -> list[Record]:
    return sorted(things, key=lambda thing: chapters.index(thing["chapter"]))


def _bands(chapters: Sequence[str], rows: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """Yield the name of each chapter, and a band behind every second one, in both directions."""
    downs, acrosses = ([0, *accumulate(of.count(chapter) for chapter in chapters)] for of in (rows, columns))
    width, height = len(columns) * COLUMN, len(rows) * ROW
    for n, chapter in enumerate(chapters):
        top, bottom = (TOP + y * ROW for y in downs[n : n + 2])
        left, right = (LEFT + x * COLUMN for x in acrosses[n : n + 2])
        name = escape(chapter.replace("_", " "))
        yield f'<text x="{LEFT - 6}" y="{(top + bottom) / 2 + 4:g}" text-anchor="end">{name}</text>'
        if n % 2 == 0:
            yield f'<rect class="bands" x="{LEFT}" y="{top:g}" width="{width:g}" height="{bottom - top:g}"/>'
            yield f'<rect class="bands" x="{left:g}" y="{TOP}" width="{right - left:g}" height="{height:g}"/>'


def _dots(record: Record, mutants: Sequence[Record], requirements: Sequence[Record]) -> Iterator[str]:
    across = {mutant["id"]: LEFT + (n + 0.5) * COLUMN for n, mutant in enumerate(mutants)}
    caught = killers(record)
    for n, requirement in enumerate(requirements):
        for x in sorted(across[mutant] for mutant in caught.get(requirement["id"], []) if mutant in across):
            yield f"M{x:.1f} {TOP + (n + 0.5) * ROW:.1f}h0"
