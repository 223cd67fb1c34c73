"""``attnconf report``: implementations side by side, as Markdown, made from any number of results records alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tabulate import tabulate

from attnconf.reports import examples, failures, plots, tables, throughput
from attnconf.reports.merging import merge

Record = dict[str, Any]
Result = dict[str, Any]

OUTCOMES = ("pass", "fail", "unsupported", "not-applicable", "not-run", "error")


def page(records: Sequence[tuple[str, Record]], root: str | None = None, folder: str | None = None) -> str:
    """Return the report on records, each with the name of its file.

    ``root``: the way from the report to the folder that holds spec/, for links; None: name the place without a link.
    ``folder``: the way to the folder with the pictures of ``pictures``; None: there are no pictures.
    """
    merged = merge(records)
    sections = [
        ["# Conformance report"],
        _warnings(records),
        _section("Verdicts", _verdicts(merged)),
        _section("Requirements", _requirements(merged, root)),
        _section("Conventions", _conventions(merged)),
        _section("Failures", _failures(merged, root, folder)),
        _section("Known deviations", _known(merged)),
        _section("Recommendations not followed", _recommendations(merged, root)),
        _section("Not supported", _unsupported(merged)),
        _section("Faults of the suite", _faults(merged)),
        _section("Not exercised", _blind_spots(merged)),
        _section("Throughput", throughput.markdown(records, folder)),
        _section("Environment", _environment(records)),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "", *lines] if lines else []


def _warnings(records: Sequence[tuple[str, Record]]) -> list[str]:
    lines = []
    for file, record in records:
        if not record["complete"]:
            done = f"{len(record['results'])} of {record['planned']} planned checks came to an outcome"
            lines.append(f"> **INCOMPLETE: {_text(file)} is from a run that was cut short.** {done}.")
        if record["suite"]["selected"]:
            lines.append(f"> **A selection: {_text(file)} holds a part of the checks only.**")
    for key, what in (("version", "versions of the suite"), ("seed", "seeds"), ("profile", "profiles")):
        values = {record["suite"][key] for _, record in records}
        if len(values) > 1:
            lines.append(f"> **The files differ in their {what}:** {', '.join(sorted(map(str, values)))}.")
    return [line for warning in lines for line in (warning, ">")][:-1]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table, or none if it has no rows."""
    content = [[_cell(cell) for cell in row] for row in rows]
    if not content:
        return []
    return _tabulated(content, list(map(_cell, head)))


def _tabulated(content: list[list[str]], head: list[str]) -> list[str]:
    return str(tabulate(content, headers=head, tablefmt="github", disable_numparse=True)).splitlines()


def _cell(content: object) -> str:
    return _text(content).replace("|", "\\|")


def _text(content: object) -> str:
    """Return a text on one line, with Markdown's special characters escaped."""
    text = " ".join(str("" if content is None else content).split())
    return text.replace("<", "&lt;").replace("*", "\\*").replace("`", "\\`")


def _verdicts(record: Record) -> list[str]:
    counted = [tables.counts(record, v) for v in record["verdicts"]]
    used = [word for word in tables.IN_ORDER if any(word in numbers for numbers in counted)]
    profiles = {i["name"]: i["profile"] for i in record["implementations"]}
    qualities = list(dict.fromkeys(q for v in record["verdicts"] for q in v["qualities"]))
    return table(
        ("implementation", "component", "profile", "verdict", "choices", *qualities, *used, "reason"),
        [
            (
                v["implementation"],
                v["component"],
                profiles.get(v["implementation"]),
                v["verdict"],
                ", ".join(f"{name}: {choice}" for name, choice in v["choices"].items()),
                *(f"{n['met']} of {n['judged']}" if (n := v["qualities"].get(q)) else "" for q in qualities),
                *(numbers.get(word, 0) for word in used),
                v["reason"],
            )
            for v, numbers in zip(record["verdicts"], counted, strict=True)
        ],
    )


def _requirements(record: Record, root: str | None) -> list[str]:
    names = [i["name"] for i in record["implementations"] if i["components"]]
    places = {r["requirement"]: r["spec"] for r in record["results"]}
    rows = [[_linked(row[0], places[row[0]], root), *map(_cell, row[1:])] for row in tables.rows(record)]
    if not rows:
        return []
    lines = _tabulated(rows, ["requirement", "strength", *map(_cell, names)])
    return [*lines, "", f"{'; '.join(tables.LEGEND.values())}; empty: not judged."]


def _linked(text: str, place: str, root: str | None) -> str:
    return text if root is None else f"[{text}]({root}{place})"


def _place(place: str, root: str | None) -> str:
    return f"`{place}`" if root is None else f"[{place}]({root}{place})"


def _conventions(record: Record) -> list[str]:
    judged = [i for i in record["implementations"] if i["components"]]
    names = sorted({convention for i in judged for convention in i["conventions"]})
    return table(
        ("convention", *(i["name"] for i in judged)),
        [(convention, *(i["conventions"].get(convention, "") for i in judged)) for convention in names],
    )


def pictures(records: Sequence[tuple[str, Record]]) -> dict[str, str]:
    """Return the pictures of the report on these records, SVG by the names of their files."""
    leaks = {examples.name(r): examples.svg(r) for r in _drawn(merge(records)) if r.get("leaks")}
    return leaks | plots.pictures(records)


def _drawn(record: Record) -> Iterable[Result]:
    """Yield every failure at the root that counts for a verdict and is no known deviation."""
    return (r for r in _roots(record) if r["counts"] and not r["deviation"])


def _failures(record: Record, root: str | None, folder: str | None) -> list[str]:
    """Return the lines on every failure of ``_drawn``, with its diagnosis."""
    lines = []
    for r in _drawn(record):
        lines += ["", f"### {r['requirement']}: {_text(r['implementation'])} ({r['component']})", ""]
        lines += [f"> {_text(r['sentence'])}", "", *_bullets(r, record), f"* Specification: {_place(r['spec'], root)}"]
        lines += examples.markdown(r, folder)
    return lines[1:]


def _bullets(r: Result, record: Record) -> Iterable[str]:
    cases = [case for case in r["cases"] if case["outcome"] == "fail"]
    yield f"* Found: {_text(r['message'])} ({r['reason']}; on {len(cases)} of {len(r['cases'])} cases)"
    if cases:
        yield f"* First case: {_text(cases[0]['described'])}"
        if cases[0]["error"] is not None and cases[0]["bound"] is not None:
            yield f"* Error: {cases[0]['error']:.3g} > {cases[0]['bound']:.2g} ({_text(cases[0]['source'])})"
    for mistake in r["diagnosis"]:
        yield f"* Likely mistake: {_text(mistake['story'])} ({', '.join(mistake['mutants'])})"
        if mistake.get("where"):
            yield f"* Where: {mistake['where']}" + (f": {_text(mistake['code'])}" if mistake.get("code") else "")
        yield f"* Hint: {_text(mistake['hint'])}"
    advice = r.get("advice") or {}
    yield from (
        f"* {title}: {_text(advice[key])}" for title, key in (("Try", "hint"), ("Where", "where")) if advice.get(key)
    )
    follow = failures.consequences(record, r)
    if follow:
        yield f"* Consequences: {', '.join(follow)}"


def _roots(record: Record) -> list[Result]:
    return [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]


def _known(record: Record) -> list[str]:
    rows = [
        (r["implementation"], r["component"], r["requirement"], r["deviation"]["reason"], r["deviation"]["link"])
        for r in _roots(record)
        if r["deviation"]
    ]
    return table(("implementation", "component", "requirement", "reason", "link"), rows)


def _recommendations(record: Record, root: str | None) -> list[str]:
    rows = [
        (r["implementation"], r["component"], r["quality"], r["requirement"], r["sentence"], r["message"])
        for r in _roots(record)
        if r["strength"] != "MUST" and not r["counts"] and not r["deviation"]
    ]
    return table(("implementation", "component", "quality", "requirement", "sentence", "found"), rows)


def _unsupported(record: Record) -> list[str]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for r in record["results"]:
        if r["outcome"] in ("unsupported", "not-run"):
            groups.setdefault((r["implementation"], r["component"], r["message"]), []).append(r["requirement"])
    rows = [(*key, ", ".join(requirements)) for key, requirements in groups.items()]
    return table(("implementation", "component", "in its words", "requirements"), rows)


def _faults(record: Record) -> list[str]:
    rows = [
        (r["implementation"], r["component"], r["requirement"], r["message"])
        for r in record["results"]
        if r["outcome"] == "error"
    ]
    return table(("implementation", "component", "requirement", "fault"), rows)


def _blind_spots(record: Record) -> list[str]:
    """Return the lines on code of users' files that no check executed, if a run looked for it."""
    rows = [
        (i["name"], f"{s['file']}:{s['first']}-{s['last']}", s["kind"], s["code"])
        for i in record["implementations"]
        for s in i.get("blind_spots") or []
    ]
    return table(("implementation", "lines", "kind", "code"), rows)


def _environment(records: Sequence[tuple[str, Record]]) -> list[str]:
    rows: dict[str, list[object]] = {}
    for _, record in records:
        suite, env = record["suite"], record["environment"]
        outcomes = Counter(r["outcome"] for r in record["results"])
        rows.setdefault("attnconf", []).append(
            suite["version"] + (f" ({suite['commit'][:12]})" if suite["commit"] else "")
        )
        for key in ("profile", "seed", "strict"):
            rows.setdefault(key, []).append(suite[key])
        for key in ("python", "torch", "platform", "device", "accelerator", "threads"):
            rows.setdefault(key, []).append(env[key])
        rows.setdefault("outcomes", []).append(", ".join(f"{outcomes[o]} {o}" for o in OUTCOMES if outcomes[o]))
        rows.setdefault("complete", []).append("yes" if record["complete"] else "NO")
    return table(("", *(file for file, _ in records)), [(name, *values) for name, values in rows.items()])
