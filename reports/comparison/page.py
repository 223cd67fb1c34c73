"""The page: one HTML file that opens from disk, with style, script and data in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnconf.reports import merging, plots, throughput
from attnconf.reports.comparison import accuracy, choices, evidence, length_plot, matrix, overview, payload, runs
from attnconf.reports.comparison.rendering import template
from attnconf.reports.comparison.visible import named

PARTS = {
    "conform": "Who conforms", "requirements": "Requirements", "failures": "Failures", "choices": "Choices",
    "accuracy": "Accuracy", "times": "Times", "runs": "Runs",
}  # fmt: skip
ON_PAPER = 24  # columns of the matrix that can be read in print


@dataclass(frozen=True)
class Pages:
    """What the specification's pages say, as HTML, and the way to them."""

    passages: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by requirement: formulas, notes
    choices: Mapping[str, str] = field(default_factory=dict)  # by convention: what may be chosen
    root: str | None = None  # the way from the report to the folder that holds spec/


def page(records: merging.Named, pages: Pages) -> str:
    """Return the report on records, each with the name of its file."""
    judged = merging.judged(records)
    columns = matrix.columns(judged)
    shown = matrix.sections(columns)
    blocks = evidence.evidence(judged)
    entries = overview.entries(judged)
    dtypes, by_dtype = accuracy.by_dtype(columns)
    content = {
        "title": f"{len(judged)} implementation{'s' * (len(judged) != 1)}",
        "requirements": sum(len(section.requirements) for section in shown),
        "profiles": _all(i.entry["profile"] for i in columns),
        "versions": _all(record["suite"]["version"] for _, record in records),
        "warnings": runs.warnings(records),
        "entries": entries, "qualities": overview.qualities(entries), "others": overview.others,
        "explained": {of_one.label for of_one in blocks if of_one.blocks or of_one.unrecognised},
        "totals": overview.totals(entries),
        "order": overview.WORST_FIRST,
        "columns": columns, "on_paper": ON_PAPER,
        "chapters": matrix.by_chapter(shown),
        "kinds": matrix.kinds(shown),
        "evidence": blocks,
        "places": {entry.label: n for n, entry in enumerate(entries)},
        "choices": choices.choices(columns, pages.choices),
        "by_dtype": by_dtype, "dtypes": dtypes,
        "by_length": accuracy.by_length(columns), "lengths": accuracy.length_titles(),
        "length_plot": length_plot.svg(accuracy.at_lengths(columns)),
        "times": throughput.tables(records),
        "plots": {name: _themed(svg) for name, svg in plots.pictures(records).items()},
        "runs": runs.runs(records),
        "payload": payload.payload(columns, shown, blocks, pages.passages, pages.root),
    }  # fmt: skip
    parts = [(anchor, name) for anchor, name in PARTS.items() if anchor not in content or content[anchor]]
    if not content["by_dtype"]:
        parts = [part for part in parts if part[0] != "accuracy"]
    return str(template("report.html").render(content, parts=parts, said=_said))


def _all(texts: Any) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _themed(svg: str) -> str:
    """Return a picture that takes its ink from the page, so that it is seen on light and dark."""
    return named(svg[svg.index("<svg") :]).replace("#000000", "currentColor").replace("#ffffff", "none")


def _said(verdict: Mapping[str, Any]) -> str:
    """Return a verdict's component, reason, choices, what is broken, and what was not tried; nothing of it twice."""
    words = [verdict["reason"], *(f"{name}: {choice}" for name, choice in verdict["choices"].items())]
    words += [broken for broken in verdict["broken"] if broken not in verdict["reason"]]
    words += [f"not tried: {', '.join(verdict['untried'])}"] if verdict["untried"] else []
    said = "; ".join(word for word in words if word)
    return " · ".join(word for word in (verdict["component"], said) if word)
