"""Blocks of failures for the terminal: one for each cause, with its place and its fix before the evidence.

Made from the record alone.
"""

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from attnconf.reports import examples

Record = dict[str, Any]
Result = dict[str, Any]
Row = tuple[str, Any]

WIDTH = 120  # characters in a line, where there is no terminal
INDENT = 12  # characters: two, the name of a line, a space
MOST_NAMES = 6  # ids of consequences; all of them with -v
UNBROKEN = ("rerun", "example", "leaks")  # lines that are copied, and drawings


def roots(record: Record) -> list[Result]:
    """Return the failures at the root (they follow from no other), those that count for the verdict first."""
    failures = [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]
    return sorted(failures, key=lambda r: not r["counts"])


def consequences(record: Record, root: Result) -> list[str]:
    """Return the ids of a root's consequences."""
    return [r["requirement"] for r in _following(record, root)]


def _following(record: Record, root: Result) -> list[Result]:
    return [
        r
        for r in record["results"]
        if root["requirement"] in r["follows_from"]
        and (r["implementation"], r["component"]) == (root["implementation"], root["component"])
    ]


def causes(record: Record) -> list[list[Result]]:
    """Return the failures at the root, grouped by the known mistake that explains several of one component."""
    by_mistake: dict[tuple[Any, ...], list[Result]] = {}
    for r in roots(record):
        named = tuple((*mistake["mutants"], mistake["hint"]) for mistake in r["diagnosis"])
        same = (r["implementation"], r["component"], named) if named and not r["deviation"] else (id(r),)
        by_mistake.setdefault(same, []).append(r)
    return list(by_mistake.values())


def failures(record: Record, width: int = WIDTH, verbose: bool = False) -> list[str]:
    """Return the lines of all blocks whose failures count for a verdict."""
    return [line for lines in blocks(record, width, verbose) for line in ["", *lines]]


def blocks(record: Record, width: int = WIDTH, verbose: bool = False, optional: bool = False) -> list[list[str]]:
    """Return a block for every fault of the suite, and one for every cause of failures that count for a verdict.

    ``optional``: return the blocks of recommendations (SHOULD) instead. What depends on how the parameters are read,
    where that is not established, is in neither.
    """
    faults = [
        [f"{r['requirement']} on {r['implementation']}: {r['message']}"]
        for r in record["results"]
        if r["outcome"] == "error"
    ]
    shown = [same for same in causes(record) if same[0]["settled"] and same[0]["counts"] != optional]
    return [*([] if optional else faults), *(block(record, same, width, verbose) for same in shown)]


def explored(record: Record) -> list[str]:
    """Return a line for every failure of --thorough in a check whose scored cases pass."""
    return [
        f"not scored: {r['requirement']} fails on {r['implementation']} ({r['component']}) "
        f"at {r['explored']['described']}: {r['explored']['message']}"
        for r in record["results"]
        if r["outcome"] == "pass" and r["explored"]
    ]


def block(record: Record, same: list[Result], width: int = WIDTH, verbose: bool = False) -> list[str]:
    """Return the block of several failures with one cause."""
    content = rows(record, same, width, verbose)
    return [head(same[0]), *(line for name, text in content for line in laid_out(name, text, width))]


def head(r: Result) -> str:
    """Return the first line of a block."""
    where = r["implementation"] + (f" ({r['component']})" if r["component"] else "")
    return f"{r['requirement']} {'violated' if r['strength'] == 'MUST' else 'not followed'} by {where}"


def rows(record: Record, same: list[Result], width: int = WIDTH, verbose: bool = False) -> list[tuple[str, str]]:
    """Return the rows of a block, in a fixed order; of several failures with one cause the first is the example."""
    r = same[0]
    following = list({f["requirement"]: f for root in same for f in _following(record, root)}.values())
    case = next(c for c in r["cases"] if c["outcome"] == "fail")
    content: list[Row] = [
        *_cause(r),
        *_evidence(r, case, width),
        ("known", r["deviation"] and f"{r['deviation']['reason']} ({r['deviation']['link']})"),
        ("also", len(same) > 1 and f"{', '.join(s['requirement'] for s in same[1:])} (the same mistake)"),
        ("breaks", _names(following, verbose)),
        *(row for f in following for row in _besides(f)),
        ("spec", r["spec"]),
        ("rerun", f'attnconf run {_options(record, r)} -k "{r["requirement"]} and {case["name"]}"'),
    ]
    return [(name, text) for name, text in content if text]


def _cause(r: Result) -> list[Row]:
    """Return the rows of the mistake, its place and its fix; the rule comes last, as it misleads alone."""
    if not r["diagnosis"]:
        advice = r.get("advice") or {}
        rule, *look = ("rule", r["sentence"]), ("try", advice.get("hint")), ("where", advice.get("where"))
        return [("wrong", advice["story"]), *look, rule] if advice.get("story") else [rule, *look]
    rows: list[Row] = []
    for index, mistake in enumerate(r["diagnosis"]):
        together = "together they reproduce" if len(r["diagnosis"]) > 1 else "reproduces"
        fits = f"  ({together} your output on {mistake['cases']} of {mistake['cases']} cases)"
        rows += [("and" if index else "likely", mistake["story"] + ("" if index else fits))]
        rows += [("where", place(mistake)), ("fix", mistake["hint"])]
    return [*rows, ("rule", r["sentence"])]


def _is_story(r: Result, message: str | None) -> bool:
    """Return whether what was found is what the block begins with."""
    story = (r.get("advice") or {}).get("story")
    return bool(story and message and message.startswith(story))


def place(mistake: dict[str, Any]) -> str | None:
    """Return the place of a mistake, with its line of code if that is known; None if the place is unknown."""
    code = f"  {mistake['code']}" if mistake.get("code") else ""
    return f"{mistake['where']}{code}" if mistake.get("where") else None


def _evidence(r: Result, case: dict[str, Any], width: int) -> list[Row]:
    failing = sum(c["outcome"] == "fail" for c in r["cases"])
    return [
        ("case", f"{case['described']}   (fails on {failing} of {len(r['cases'])} cases)"),
        ("worst at" if case["error"] is not None else "found", not _is_story(r, case["message"]) and case["message"]),
        ("error", _error(case)),
        ("smallest", r["explored"] and f"{r['explored']['described']}: {r['explored']['message']}"),
        ("example", "\n".join(examples.example(r, width - INDENT))),
        ("leaks", "\n".join(examples.leaks(r))),
    ]


def _error(case: dict[str, Any]) -> str | None:
    if case["error"] is None:
        return None
    off = f"; {case['off']:.0f} % of elements off" if case["off"] is not None else ""
    return f"{case['error']:.3g} > {case['bound']:.2g} ({case['source']}){off}"


def _names(following: Sequence[Result], verbose: bool) -> str:
    names = [r["requirement"] for r in following]
    shown = names if verbose or len(names) <= MOST_NAMES + 1 else names[:MOST_NAMES]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"{', '.join(shown)}{more} (consequences)" if names else ""


def _besides(following: Result) -> list[Row]:
    """Return the rows of a second mistake that only a consequence shows."""
    if len(following["diagnosis"]) < 2:
        return []
    second = following["diagnosis"][0]
    return [
        ("besides", f"{following['requirement']} shows another mistake, too: {second['story']}"),
        ("where", place(second)),
        ("fix", second["hint"]),
    ]


def _options(record: Record, result: Result) -> str:
    """Return the options of a rerun, without its selection."""
    suite = record["suite"]
    profile = "throughput" if result["spec"].startswith("spec/throughput.md") else suite["profile"]
    options = [f"--impl={result['implementation']}"]
    options += [] if profile.startswith("core") else [f"--profile={profile}"]  # core: where none is asked for
    options += [f"--convention={name}={choice}" for name, choice in suite.get("prescribed", {}).items()]
    options += [f"--with={suite['course']['name']}"] if "course" in suite else []
    options += [f"--seed={suite['seed']}"] if suite["seed"] else []
    options += [f"--device={record['environment']['device']}"] if record["environment"]["device"] != "cpu" else []
    return " ".join(options)


def laid_out(name: str, text: str, width: int) -> list[str]:
    """Return one row of a block: its name, and its text beside it, on as many lines as the width asks for."""
    copied = name in UNBROKEN or (name == "where" and not text.startswith("somewhere"))
    lines = text.split("\n") if copied else wrapped(text, width - INDENT)
    return [f"  {name if not n else '':<9} {line}" for n, line in enumerate(lines)]


def wrapped(text: str, width: int) -> list[str]:
    """Return prose on lines of at most this many characters, where words are short enough.

    Lines are not broken within brackets, nor between "got" or "want" and its number.
    """
    whole = re.sub(r"[\[(][^\[\]()]{1,30}[\])]|\b(got|want) \S", lambda m: m[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(whole, max(width, 40), break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines] or [""]
