"""The page and the plot of the study of extrapolation, from its records."""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from attnconf.reports.studies.extrapolation_models import METHODS, TASKS, Settings

TEMPLATE = Path(__file__).with_name("extrapolation.template.md")
GOOD = 0.9  # accuracy that counts as solved
Cells = dict[tuple[str, str, int], tuple[float, float]]  # mean and standard error of (task, method, ratio)


def summary(runs: list[dict[str, Any]], s: Settings, where: str) -> Cells:
    """Return mean and standard error over the seeds."""
    cells = {}
    for task, method, ratio in itertools.product(TASKS, METHODS, s.ratios):
        found = [r["accuracy"][str(ratio)][where] for r in runs if (r["task"], r["method"]) == (task, method)]
        if found:
            spread = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
            cells[task, method, ratio] = statistics.fmean(found), spread
    return cells


def kept(cells: Cells, task: str, method: str, s: Settings) -> int:
    """Return the greatest ratio up to which the task is solved; 0 where it is not at the training length."""
    solved = itertools.takewhile(lambda ratio: cells[task, method, ratio][0] >= GOOD, s.ratios)
    return max(solved, default=0)


def shown_methods(cells: Cells) -> list[str]:
    return [m for m in METHODS if any(method == m for _, method, _ in cells)]


def answer(cells: Cells, s: Settings) -> str:
    """Return what the claim comes to, in words."""
    if "rotary" not in shown_methods(cells):
        return "Rotary was not run."
    learnt = [ratio for ratio in (kept(cells, task, "rotary", s) for task in TASKS) if ratio]
    verdict = "holds" if min(learnt, default=0) == max(s.ratios) else "does not hold"
    rows = [f"The claim {verdict} here." if learnt else "Rotary learnt nothing, so the claim cannot be judged."]
    rows += ["Rotary, in the last half of the sequence:", ""]
    for task in TASKS:
        path = ", ".join(f"{cells[task, 'rotary', r][0]:.2f} at {r}×" for r in s.ratios)
        rows.append(f"* {task}: {path}.")
    return "\n".join(rows)


def table(head: Sequence[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(head), ["---"] * len(head), *rows])


def kept_table(cells: Cells, s: Settings) -> str:
    rows = [
        [
            method,
            *(f"{kept(cells, task, method, s)}×" if kept(cells, task, method, s) else "not learnt" for task in TASKS),
        ]
        for method in shown_methods(cells)
    ]
    return table(["", *TASKS], rows)


def tables(runs: list[dict[str, Any]], s: Settings) -> str:
    """Return a table for each task: accuracy in the last half, and overall."""
    late, overall = summary(runs, s, "last half"), summary(runs, s, "overall")
    parts = []
    for task, (where, cells) in itertools.product(TASKS, (("last half", late), ("all positions", overall))):
        rows = [
            [method, *("{:.3f} ± {:.3f}".format(*cells[task, method, ratio]) for ratio in s.ratios)]
            for method in shown_methods(cells)
        ]
        parts += [f"**{task}, {where}**", "", table(["", *(f"{ratio}×" for ratio in s.ratios)], rows), ""]
    return "\n".join(parts).rstrip()


def longer_table(runs: list[dict[str, Any]], s: Settings) -> str:
    """Return accuracy in the last half, a number for each seed."""
    rows = []
    for task, method in dict.fromkeys((r["task"], r["method"]) for r in runs):
        found = [r["accuracy"] for r in runs if (r["task"], r["method"]) == (task, method)]
        cells = [", ".join(f"{a[str(ratio)]['last half']:.2f}" for a in found) for ratio in s.ratios]
        rows.append([f"{task}, {method}", *cells])
    return table(["task, method", *(f"{ratio}×" for ratio in s.ratios)], rows)


def page(runs: list[dict[str, Any]], s: Settings, longer_runs: list[dict[str, Any]], longer: Settings) -> str:
    cells = summary(runs, s, "last half")
    sizes = sorted({r["parameters"] for r in runs})
    return TEMPLATE.read_text(encoding="utf-8").format(
        **asdict(s), answer=answer(cells, s), kept=kept_table(cells, s), tables=tables(runs, s), good=GOOD,
        chance=1 / s.vocabulary, head=s.width // s.heads, parameters=f"{sizes[0]:,} … {sizes[-1]:,}",
        lengths=", ".join(str(r * s.train_length) for r in s.ratios),
        longer=longer_table(longer_runs, longer), longer_steps=longer.steps, longer_seeds=longer.seeds,
    )  # fmt: skip


def plot(runs: list[dict[str, Any]], s: Settings, path: Path) -> None:
    """Draw accuracy in the last half by length, a panel for each task; the points stand a little apart."""
    cells = summary(runs, s, "last half")
    looks = dict(zip(METHODS, zip(("0.5", "C0", "C9", "C3", "C2", "C1"), "xsvoD^", strict=True), strict=True))
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    for i, (axes, task) in enumerate(zip(figure.subplots(1, len(TASKS), sharey=True), TASKS, strict=True)):
        for shift, (method, (colour, marker)) in zip((-5, -3, -1, 1, 3, 5), looks.items(), strict=True):
            if method in shown_methods(cells):
                means, errors = zip(*(cells[task, method, ratio] for ratio in s.ratios), strict=True)
                x = [ratio * 2 ** (shift / 40) for ratio in s.ratios]
                axes.errorbar(x, means, errors, color=colour, marker=marker, markersize=5, capsize=3, label=method)
        axes.axhline(1 / s.vocabulary, color="0.7", linestyle=":", zorder=0)
        axes.text(s.ratios[0], 1 / s.vocabulary, "chance", color="0.5", fontsize=8, va="bottom")
        axes.set_xscale("log", base=2)
        axes.set_xticks(s.ratios, [f"{ratio}×\n{ratio * s.train_length}" for ratio in s.ratios])
        axes.set(title=task, xlabel="test length (multiple of training length; tokens)", ylim=(-0.02, 1.04))
        if i == 0:
            axes.set_ylabel("accuracy in the last half of the sequence")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", title="positions")
    figure.suptitle(f"Trained at {s.train_length} tokens; mean ± standard error over {s.seeds} seeds")
    figure.savefig(path, dpi=110)
