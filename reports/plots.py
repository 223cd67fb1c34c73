"""Pictures of a run's times, as SVG: time, TFLOP/s and memory against length, and the roofline; all log-log.

They need matplotlib (extra ``plots``).
"""

import importlib.util
import io
import re
from collections.abc import Sequence
from typing import Any

Record = dict[str, Any]
Entry = dict[str, Any]
Series = dict[str, list[tuple[Record, Entry]]]  # by contender, in order of length

SUFFIXES = (".png", ".svg")  # of pictures in a file of their own
MISSING = "Pictures need matplotlib: pip install 'attention-conformance[plots]'"
PANELS = (("time (s)", "median_s"), ("TFLOP/s", "tflops"), ("memory (bytes)", "peak_bytes"))
STYLE: Any = {  # the same numbers, the same file
    "svg.hashsalt": "attnconf", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"],
}  # fmt: skip


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def names(records: Sequence[tuple[str, Record]]) -> list[str]:
    """Return the names of the files that ``pictures`` makes."""
    return [name for name, _ in _jobs(records)]


def pictures(records: Sequence[tuple[str, Record]]) -> dict[str, str]:
    """Return the pictures of all runs that were timed, as SVG by the names of their files."""
    return {name: draw() for name, draw in _jobs(records)}


def _jobs(records: Sequence[tuple[str, Record]]) -> list[tuple[str, Any]]:
    jobs: list[tuple[str, Any]] = []
    if not available():
        return jobs
    for file, record in records:
        timing = record.get("throughput")
        cases = [case for case in timing["cases"] if case["status"] == "timed"] if timing else []
        prefix = f"throughput-{re.sub(r'[^a-zA-Z0-9]+', '-', file.removesuffix('.json')).strip('-')}"
        for group in dict.fromkeys(case["group"] for case in cases):
            kinds = _kinds([case for case in cases if case["group"] == group])
            if kinds:
                jobs.append((f"{prefix}-{group.replace(' ', '-')}.svg", lambda g=group, k=kinds: _lengths(g, k)))
        if any(case["work"]["flops"] for case in cases):
            jobs.append((f"{prefix}-roofline.svg", lambda f=timing, c=cases: _roofline(f, c)))
    return jobs


def _by_contender(cases: Sequence[Record]) -> Series:
    series: Series = {}
    for case in sorted(cases, key=lambda case: case["sizes"]["S"]):
        for entry in (case["anchor"], *case["contenders"]):
            if "median_s" in entry:
                series.setdefault(entry["name"], []).append((case, entry))
    return series


def _kind(case: Record) -> str:
    """Return the key of the cases that are joined by a line."""
    sizes = case["sizes"]
    words = [word for word in ("causal", "padded") if sizes[word]]
    return ", ".join([f"E = {sizes['E']}", *words, case["dtype"], *(["one query"] if sizes["L"] == 1 else [])])


def _kinds(cases: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the cases by their kind, where there are several lengths of a kind."""
    by_kind: dict[str, list[Record]] = {}
    for case in cases:
        by_kind.setdefault(_kind(case), []).append(case)
    return {kind: alike for kind, alike in by_kind.items() if len({case["sizes"]["S"] for case in alike}) > 1}


def _lengths(group: str, kinds: dict[str, list[Record]]) -> str:
    """Draw a row of panels for each kind of case in a group."""
    from matplotlib.figure import Figure

    height = 2.6 * len(kinds) + 0.4
    figure = Figure(figsize=(10, height))
    figure.subplots_adjust(
        0.08, 0.45 / height, 0.99, 1 - 0.7 / height, 0.42, 0.55
    )  # a layout engine takes as long again
    grid = figure.subplots(len(kinds), len(PANELS), squeeze=False)
    for axes, (kind, cases) in zip(grid, kinds.items(), strict=True):
        series = _by_contender(cases)
        for panel, (label, key) in zip(axes, PANELS, strict=True):
            for number, (name, points) in enumerate(series.items()):
                known = [(c["sizes"]["S"], e[key]) for c, e in points if e.get(key)]
                if known:
                    panel.loglog(*zip(*known, strict=True), marker=".", color=f"C{number}", label=name)
            panel.set(xlabel="length (keys)", ylabel=label, title=kind)
            _ticks(panel, sorted({case["sizes"]["S"] for case in cases}))
    grid[0][0].legend(fontsize=6)
    figure.suptitle(group, y=1 - 0.2 / height)
    return as_svg(figure)


def _roofline(timing: Record, cases: Sequence[Record]) -> str:
    """Draw every contender's operations a second over operations for each byte, under what the machine can do."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5))
    figure.subplots_adjust(0.1, 0.1, 0.99, 0.94)
    panel = figure.subplots()
    counted = [case for case in cases if case["work"]["flops"]]
    for number, (name, points) in enumerate(_by_contender(counted).items()):
        work = [(c["work"]["flops"] / c["work"]["bytes"], c["work"]["flops"] / e["median_s"] / 1e12) for c, e in points]
        panel.loglog(*zip(*work, strict=True), ".", color=f"C{number}", label=name)
    _roofs(panel, timing["peaks"], [c["work"]["flops"] / c["work"]["bytes"] for c in counted])
    panel.set(xlabel="operations for each byte", ylabel="TFLOP/s", title=f"Roofline, {timing['device']}")
    _ticks(panel)
    panel.legend(fontsize=6)
    return as_svg(figure)


def _ticks(panel: Any, lengths: Sequence[int] = ()) -> None:
    """Have a mark at each length, and at 1, 2 and 5 times powers of ten, in words that do not run into each other."""
    from matplotlib import ticker

    if lengths:
        panel.set_xticks(lengths, [str(length) for length in lengths])
        panel.xaxis.set_minor_locator(ticker.NullLocator())
    panel.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    plain = panel.get_ylabel() == "TFLOP/s"  # its prefix is there already
    panel.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}") if plain else ticker.EngFormatter())
    panel.yaxis.set_minor_formatter(ticker.NullFormatter())
    panel.grid(visible=True, alpha=0.3)


def _roofs(panel: Any, peaks: dict[str, float], intensities: Sequence[float]) -> None:
    for label, flops, traffic, style in (("measured", "gemm", "copy", "--"), ("datasheet", "flops", "bytes", "-")):
        if flops in peaks and traffic in peaks:
            ridge = peaks[flops] / peaks[traffic]
            ends = min(*intensities, ridge) / 2, ridge, max(*intensities, ridge) * 2
            roof = [min(peaks[flops], peaks[traffic] * x) / 1e12 for x in ends]
            panel.loglog(ends, roof, style, color="black", linewidth=1, label=f"roof, {label}")


def as_svg(figure: Any) -> str:
    """Return a figure of matplotlib's as SVG: the same each time."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"\n +", "\n", buffer.getvalue())  # a tenth of it is indentation


def as_picture(figure: Any, suffix: str, dpi: int = 120) -> bytes:
    """Return a figure of matplotlib's as the file that the end of its name, one of SUFFIXES, asks for."""
    if suffix == ".svg":
        return as_svg(figure).encode()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
