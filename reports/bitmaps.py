"""The pictures of ``attnconf report --draw`` as PNG, by matplotlib (extra ``plots``); as SVG they need nothing."""

import math
from collections.abc import Sequence
from typing import Any

from attnconf.reports.comparison.length_plot import CAPTION, LEAST, MOST, Points, decade
from attnconf.reports.comparison.visible import visible
from attnconf.reports.kill_matrix import killers
from attnconf.reports.plots import as_picture

Record = dict[str, Any]
WITHIN, BEYOND = "#2e7d32", "#b3261e"


def lengths(found: Points) -> bytes:
    """Return how much of the error bounds is used at each length, a colour for each side of the bound.

    Raises ValueError if there are no two lengths to compare, ImportError without matplotlib.
    """
    from matplotlib.figure import Figure

    points = [(length, share.share) for _, shares in found for length, share in shares.items()]
    if len({length for length, _ in points}) < 2:
        raise ValueError("there are no two lengths to compare in these results")
    worst = sorted(points, key=lambda point: point[1])[-MOST:]
    across, down = [math.log2(length) for length, _ in worst], [decade(share) for _, share in worst]
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.axhline(0, color="0.3", linestyle="--", linewidth=1)
    colours = [BEYOND if share > 1 else WITHIN for _, share in worst]
    axes.scatter(across, down, s=12, c=colours, alpha=0.6, linewidths=0)
    decades = range(LEAST, max(1, math.ceil(max(down))) + 1, 2)
    axes.set_yticks(decades, ["the bound" if at == 0 else f"1e{at}" for at in decades])
    powers = range(0, math.ceil(max(across)) + 1, 2)
    axes.set_xticks(powers, [str(2**power) for power in powers])
    who = ", ".join(visible(label) for label, _ in found) if len(found) < 5 else f"{len(found)} implementations"
    axes.set_title(f"{CAPTION}\n{who}", fontsize=9, parse_math=False)
    axes.set_xlabel("length (tokens)")
    return as_picture(figure, ".png")


def kills(record: Record) -> bytes:
    """Return the kill matrix, requirements by mutants: a dot where the one catches the other. Raises ImportError."""
    from matplotlib.figure import Figure

    chapters: Sequence[str] = record["chapters"]
    mutants, requirements = (
        sorted(record[key], key=lambda thing: chapters.index(thing["chapter"])) for key in ("mutants", "requirements")
    )
    across = {mutant["id"]: n for n, mutant in enumerate(mutants)}
    caught = killers(record)
    dots = [(across[m], n) for n, r in enumerate(requirements) for m in caught.get(r["id"], []) if m in across]
    figure = Figure(figsize=(11, 9), layout="constrained")
    axes = figure.subplots()
    axes.scatter([x for x, _ in dots], [y for _, y in dots], s=2, c=BEYOND, linewidths=0)
    rows = [r["chapter"] for r in requirements]
    there = [chapter for chapter in chapters if chapter in rows]
    middles = [rows.index(chapter) + (rows.count(chapter) - 1) / 2 for chapter in there]
    axes.set_yticks(middles, [chapter.replace("_", " ") for chapter in there], fontsize=7)
    axes.set(xlim=(-1, len(mutants)), ylim=(len(requirements), -1), xlabel="mutants, chapter by chapter")
    axes.set_title(f"{len(requirements)} requirements, {len(mutants)} mutants: a dot where the one catches the other")
    return as_picture(figure, ".png")
