"""Pictures in the terminal, of characters: what a report draws into a file, for whoever would rather look than read."""

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

from attnconf.reports.comparison.length_plot import CAPTION, LEAST, Points, decade
from attnconf.reports.comparison.visible import visible
from attnconf.reports.kill_matrix import killers

SHADES = " ░▒▓█"
LABEL = 22  # characters of a name at the left


def lengths(found: Points, columns: int) -> list[str]:
    """Return the largest share of an error bound at each length: a letter for each implementation, the bound a line."""
    points = [(n, length, share.share) for n, (_, shares) in enumerate(found) for length, share in shares.items()]
    if len({length for _, length, _ in points}) < 2:
        return ["error against length: there are no two lengths to compare in these results"]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    across, most = columns - LABEL - 1, log2(max(length for _, length, _ in points)) or 1.0
    highest = max(0, *(round(decade(share)) for _, _, share in points))
    rows = {at: [" " if at else "─"] * (across + 1) for at in range(highest, LEAST - 1, -1)}
    for n, length, share in sorted(points, key=lambda point: point[2]):
        rows[round(decade(share))][round(across * log2(length) / most)] = letters[n % len(letters)]
    names = {0: "the bound", LEAST: f"1e{LEAST} and less"}
    lines = [f"{names.get(at, f'1e{at}'):>{LABEL - 1}} {''.join(cells).rstrip()}" for at, cells in rows.items()]
    powers = range(0, int(most) + 1, max(1, round(most / 8)))
    ticks = [" "] * (across + 8)
    for power in powers:
        at = round(across * power / most)
        ticks[at : at + len(str(2**power))] = str(2**power)
    who = [f"{letters[n % len(letters)]} = {visible(label)}" for n, (label, _) in enumerate(found)]
    return [f"{CAPTION}:", "", *lines, f"{'length (tokens)':>{LABEL - 1}} {''.join(ticks).rstrip()}", "", *who]


def kills(record: dict[str, Any], columns: int) -> list[str]:
    """Return the kill matrix, chapters by mutants: the darker, the more of so many mutants a chapter catches."""
    chapters: Sequence[str] = record["chapters"]
    chapter_of = {r["id"]: r["chapter"] for r in record["requirements"]}
    mutants = sorted(record["mutants"], key=lambda mutant: chapters.index(mutant["chapter"]))
    caught: dict[str, set[str]] = {}
    for requirement, names in killers(record).items():
        caught.setdefault(chapter_of.get(requirement, ""), set()).update(names)
    each = -(-len(mutants) // (columns - LABEL - 1))  # mutants that one character stands for
    bins = [[m["id"] for m in mutants[at : at + each]] for at in range(0, len(mutants), each)]
    lines = []
    for chapter in chapters:
        shares = [sum(name in caught.get(chapter, ()) for name in names) / len(names) for names in bins]
        cells = "".join(SHADES[ceil(4 * share)] for share in shares)
        if cells.strip():
            lines.append(f"{chapter.replace('_', ' '):>{LABEL - 1}} {cells.rstrip()}")
    words = f"{len(chapter_of)} requirements by chapter, and {len(mutants)} mutants from left to right"
    return [
        f"{words}, {each} of them a character; {SHADES.strip()}: few to all of these are caught by the chapter",
        "",
        *lines,
    ]
