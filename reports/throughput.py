"""Tables of time, memory and fractions of the peaks, from the ``throughput`` of results records."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from attnconf.reports import plots

Record = dict[str, Any]
Case = dict[str, Any]
Entry = dict[str, Any]

HEAD = ("case", "contender", "time", "ratio to anchor", "verdict", "TFLOP/s", "GB/s", "tokens/s", "memory", "of peak",
        "flags")  # fmt: skip
SAID = {"not-timed": "not timed", "unsupported": "unsupported", "not-run": "not run"}
MOST_ROWS = 60  # of a run's cases in Markdown; with more, the cases of a group are one row for each contender
MOST_NOTES = 20
MOST_NAMED = 8  # cases behind a note
SHORT_HEAD = ("cases of", "contender", "cases", "ratio to anchor, median", "least", "largest", "verdicts")
LEGEND = (
    "ratio: median of the ratios of the same rounds, with its 95 % interval; less than 1 is faster than the anchor",
    "of peak: of the least time that is possible by datasheet / by products and copies measured here",
)


def lines(record: Record) -> list[str]:
    """Return the lines on a run's times: the table, notes on it, and reasons for missing times."""
    timing = record.get("throughput")
    if not timing:
        return []
    if not timing["planned"]:
        return [
            "",
            "THROUGHPUT: nothing is timed: there is no case for any component of what was given, or none that -k keeps",
        ]
    from tabulate import tabulate

    text = str(tabulate(list(_rows(timing)), headers=HEAD, tablefmt="simple", disable_numparse=True))
    return ["", f"THROUGHPUT, {_title(timing)}", "", *text.splitlines(), "", *LEGEND, *notes(timing)]


def _title(timing: Record) -> str:
    machine, peaks = timing["machine"], timing["peaks"]
    name = machine.get("gpu") or machine.get("cpu") or timing["device"]
    words = [f"{timing['cases_of']} on {timing['device']}: {name}"]
    if timing["device"] == "cpu":
        words += [f"{machine.get('threads', 1)} thread(s)", f"load {machine.get('load')}"]
    words += [f"{label} {peaks[key] / scale:.3g} {unit}" for key, label, scale, unit in PEAKS if key in peaks]
    return ", ".join(words)


PEAKS = (
    ("gemm", "products", 1e12, "TFLOP/s"), ("copy", "copies", 1e9, "GB/s"),
    ("flops", "datasheet", 1e12, "TFLOP/s"), ("bytes", "datasheet", 1e9, "GB/s"),
)  # fmt: skip


def _rows(timing: Record) -> Iterator[list[str]]:
    """Yield a row for the anchor of each case, and one for each contender."""
    for case in timing["cases"]:
        name = case["case"]
        if case["status"] == "timed":
            yield [name, f"{case['anchor']['name']} (anchor)", *_measured(case["anchor"], "1", "")]
            name = ""
        for entry in case["contenders"]:
            yield [name, *row(entry)]
            name = ""
        if name and case["status"] != "timed":
            yield [name, "", *[""] * 2, SAID[case["status"]], *[""] * 6]


def row(entry: Entry) -> list[str]:
    """Return a contender's cells after the case's."""
    flags = ", ".join(flag["code"] for flag in entry["flags"])
    if entry["status"] != "timed":
        return [entry["name"], "", "", SAID[entry["status"]], *[""] * 5, flags]
    return [entry["name"], *_measured(entry, ratio(entry), entry["verdict"]), flags]


def _measured(entry: Entry, ratio: str, verdict: str) -> list[str]:
    fractions = entry["fractions"]
    peak = " / ".join(f"{fractions[key]:.0%}" if fractions[key] else "-" for key in ("datasheet", "measured"))
    return [
        duration(entry["median_s"]), ratio, verdict, figure(entry["tflops"]), figure(entry["gbs"]),
        amount(entry["tokens_s"]), size(entry.get("peak_bytes")), peak,
    ]  # fmt: skip


def ratio(entry: Entry) -> str:
    return f"{entry['ratio']:.3f} [{entry['lo']:.3f}, {entry['hi']:.3f}]"


def duration(seconds: float) -> str:
    """Return seconds with a unit: "12.3 ms"."""
    unit, scale = next((u for u in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if seconds * u[1] >= 1), ("ns", 1e9))
    return f"{figure(seconds * scale)} {unit}"


def figure(x: float | None) -> str:
    """Return a number in three digits; nothing for none."""
    return "" if x is None else f"{float(f'{x:.3g}'):g}"


def amount(x: float) -> str:
    """Return a large number with a letter: "1.24 M"."""
    unit, scale = next((u for u in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if x >= u[1]), ("", 1.0))
    return f"{figure(x / scale)} {unit}".strip()


def size(x: int | None) -> str:
    return "" if x is None else amount(x) + "B" if x >= 1000 else f"{x} B"


def notes(timing: Record) -> list[str]:
    """Return sentences on contenders that were not timed, on flags, and on doubtful cases and machines."""
    cases_by_note: dict[str, list[str]] = {}
    for case in timing["cases"]:
        if case["status"] != "timed":
            cases_by_note.setdefault(f"{case['status']}: {case['reason']}", []).append(case["case"])
        elif case["aa"]["void"]:
            words = f"the anchor differs from itself by {abs(case['aa']['ratio'] - 1):.1%}: there is no verdict"
            cases_by_note.setdefault(words, []).append(case["case"])
        elif case["disturbed"]:
            cases_by_note.setdefault(f"{case['disturbed']}: there is no verdict", []).append(case["case"])
        for entry in case["contenders"]:
            for text in [entry["reason"], *(flag["text"] for flag in entry["flags"])]:
                if text:
                    cases_by_note.setdefault(f"{entry['name']}: {text}", []).append(case["case"])
    noted = [f"{text} ({_first(cases)})" for text, cases in cases_by_note.items()]
    if timing["degraded"]:
        where = f", in {', '.join(timing['unlike_published'])}" if timing["unlike_published"] else ""
        noted.append(f"DEGRADED: this device is not as fast as its datasheet, or published figures, say{where}")
    if len(timing["cases"]) < timing["planned"]:
        noted.append(f"{timing['planned'] - len(timing['cases'])} of {timing['planned']} cases were not run")
    if timing["device"] == "cpu":
        noted.append(f"cases for CUDA: not-run: {timing['cuda']}")
    return noted


# -- in a report


def tables(records: Sequence[tuple[str, Record]]) -> list[dict[str, Any]]:
    """Return, for each run that was timed, its file, title, head, rows and notes."""
    timings = [(file, record["throughput"]) for file, record in records if record.get("throughput")]
    return [
        {"file": file, "title": _title(t), "head": HEAD, "rows": list(_rows(t)), "notes": [*LEGEND, *notes(t)]}
        for file, t in timings
    ]


def markdown(records: Sequence[tuple[str, Record]], folder: str | None = None) -> list[str]:
    """Return the tables of all runs that were timed, and their pictures in a folder, in lines of Markdown."""
    timings = [(file, record["throughput"]) for file, record in records if record.get("throughput")]
    content: list[str] = []
    for file, timed in timings:
        content += ["", f"### {file}", "", f"{_title(timed)}.", "", *_table(timed), ""]
        content += [f"* {note}" for note in _short(notes(timed))]
    if not content:
        return []
    return [*content[1:], "", *(f"{line}.  " for line in LEGEND), *comparison(timings), *_pictures(records, folder)]


def _table(timing: Record) -> list[str]:
    """Return the table of a run in Markdown: of each case, or where these are many, of each group of cases."""
    from attnconf.reports.markdown import table

    rows = list(_rows(timing))
    if len(rows) <= MOST_ROWS:
        return table(HEAD, rows)
    words = f"A row for the cases of a group; the HTML report has all {len(timing['cases'])}."
    return [*table(SHORT_HEAD, _grouped(timing)), "", words]


def _first(names: list[str]) -> str:
    return (
        ", ".join(names)
        if len(names) <= MOST_NAMED
        else f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    )


def _grouped(timing: Record) -> Iterator[list[str]]:
    """Yield a row for each contender of each group of cases that were timed, beside the group's anchor."""
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for case in timing["cases"]:
        for entry in case["contenders"]:
            if case["status"] == entry["status"] == "timed":
                key = (case["group"], entry["name"], case["anchor"]["name"])
                groups.setdefault(key, []).append(entry)
    for (group, name, anchor), entries in groups.items():
        ratios = [entry["ratio"] for entry in entries]
        verdicts = Counter(entry["verdict"] for entry in entries).most_common()
        figures = (statistics.median(ratios), min(ratios), max(ratios))
        told = ", ".join(f"{n} {verdict}" for verdict, n in verdicts)
        yield [f"{group}, by {anchor}", name, str(len(entries)), *(f"{x:.3f}" for x in figures), told]


def _short(noted: list[str]) -> list[str]:
    more = len(noted) - MOST_NOTES
    return [*noted[:MOST_NOTES], f"and {more} more, which the HTML report has"] if more > 1 else noted


def _pictures(records: Sequence[tuple[str, Record]], folder: str | None) -> list[str]:
    if folder is None:
        return []
    if not plots.available():
        return ["", f"{plots.MISSING}."]
    return [line for name in plots.names(records) for line in ("", f"![{name}]({quote(folder)}/{name})")]


def comparison(timings: Sequence[tuple[str, Record]]) -> list[str]:
    """Return a comparison of several runs' timings of one contender, by ratios to the anchor, never by seconds."""
    from attnconf.reports.markdown import table

    timed: dict[tuple[str, str, str], dict[str, Entry]] = {}
    for file, run in timings:
        for case in run["cases"]:
            for entry in case["contenders"]:
                if entry["status"] == "timed":
                    key = (case["case"], case["anchor"]["name"], entry["name"])
                    timed.setdefault(key, {})[file] = entry
    rows = [
        (case, name, anchor, *(ratio(e[file]) if file in e else "" for file, _ in timings), _change(list(e.values())))
        for (case, anchor, name), e in timed.items()
        if len(e) > 1
    ]
    if not rows:
        return []
    head = ("case", "contender", "anchor", *(file for file, _ in timings), "last by first")
    words = (
        "Compared are ratios to the anchor of the same run: the milliseconds of two runs are not comparable. "
        "An interval is that of its run: on a machine whose cores or caches are shared, what works otherwise than the "
        "anchor moves by several per cent more from run to run."
    )
    if len({(run["machine"].get("gpu"), run["machine"].get("cpu")) for _, run in timings}) > 1:
        words += " The runs are of different machines, on which the anchor itself may be better or worse."
    return ["", "### Run against run", "", *table(head, rows), "", words]


def _change(entries: Sequence[Entry]) -> str:
    """Return the change from the first ratio to the last, with an interval from the intervals of both."""
    first, last = entries[0], entries[-1]
    lo, hi = last["lo"] / first["hi"], last["hi"] / first["lo"]
    return f"{last['ratio'] / first['ratio']:.3f} [{lo:.3f}, {hi:.3f}]"
