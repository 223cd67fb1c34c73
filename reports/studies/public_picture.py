"""The picture of the study of public code: what the suite said, and what is wrong.

Not part of the installed package.
"""

from collections.abc import Mapping
from typing import Any

from attnconf.reports.plots import as_svg
from attnconf.reports.studies.public_code import HERE, truths_in
from attnconf.reports.studies.public_figures import VERDICTS, Counts, by_component, by_sums, ends, sum_of, table

COLOURS = ("#2a9d5c", "#c0392b", "#e39a3b", "#8d8d8d", "#dddddd")
PARTS = {"first": "first part", "last": "last third"}


def picture() -> str:
    """Return verdicts by component in each part, and the shares that are wrong, as an SVG."""
    from matplotlib.figure import Figure

    rows, truths = table("public_code.tsv"), truths_in(HERE)
    figure = Figure(figsize=(9, 10), layout="constrained")
    *parts, wrong = figure.subplots(3, height_ratios=(3, 3, 5))
    for axes, part in zip(parts, PARTS, strict=True):
        here = by_component([row for row in rows if row["part"] == part], truths)
        _verdicts(axes, here)
        count = sum(counts.total() for counts in here.values())
        axes.set_title(f"What the suite said of the {PARTS[part]}: {count} implementations")
    figure.legend(*parts[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(VERDICTS), fontsize=8)
    _shares(wrong, {**by_component(rows, truths), **by_sums("kind")})
    return as_svg(figure)


def _verdicts(axes: Any, counted: Mapping[str, Counts]) -> None:
    """Draw the verdicts of each component, side by side."""
    names = list(counted)[::-1]
    left = [0] * len(names)
    for verdict, colour in zip(VERDICTS, COLOURS, strict=True):
        numbers = [sum(n for (one, _), n in counted[name].items() if one == verdict) for name in names]
        axes.barh(names, numbers, left=left, color=colour, label=verdict)
        left = [a + b for a, b in zip(left, numbers, strict=True)]
    axes.set_xlim(0, 115)  # both parts in one scale
    axes.set_xlabel("implementations")


def _shares(axes: Any, counted: Mapping[str, Counts]) -> None:
    """Draw which share is wrong, of what is right or wrong, with its interval."""
    for at, counts in enumerate([*counted.values()][::-1]):
        wrong, judged = sum_of("wrong", counts), sum_of("right", counts) + sum_of("wrong", counts)
        low, high = ends(wrong, judged)
        axes.plot([100 * low, 100 * high], [at, at], color="#777777", linewidth=2)
        axes.plot([100 * wrong / judged], [at], "o", color="#c0392b")
        axes.text(100 * high + 0.7, at, f"{wrong} of {judged}", va="center", fontsize=8)
    axes.set_yticks(range(len(counted)), list(counted)[::-1])
    axes.set_xlim(0, 50)
    axes.set_xlabel("%")
    axes.set_title("What is wrong, of what is right or wrong, both parts, with 95 % intervals")
