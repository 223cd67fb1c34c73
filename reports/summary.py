"""The summary that a learner reads last: each mistake with its fix and place, what to read next, unexercised code.

Made from the record alone.
"""

from collections.abc import Iterator
from typing import Any

from attnconf.reports import unrecognised
from attnconf.reports.failures import causes, place

Record = dict[str, Any]
Result = dict[str, Any]
Row = tuple[str, str]

MOST_ROOTS, MOST_SPOTS = 3, 12


def summary(record: Record, shown_before: bool = False) -> list[str]:
    """Return the lines on the one implementation of a run, or on each of those that one file holds.

    There are none if several are compared, or if the run was cut short. ``shown_before``: recommendations stand above.
    """
    if not record["complete"] or not is_one(record["implementations"]):
        return []
    lines: list[str] = []
    for name, part in _parts(record):
        lines += ["", *([name] if len(record["implementations"]) > 1 else []), *_of_one(part, shown_before)]
    return lines


def is_one(implementations: list[dict[str, Any]]) -> bool:
    """Return whether there is one implementation, or several from one file."""
    inferred = all(i["binding"] == "inferred" or not i["components"] for i in implementations)
    return len(implementations) == 1 or (inferred and len({i["source"] for i in implementations}) == 1)


def _parts(record: Record) -> Iterator[tuple[str, Record]]:
    """Yield each implementation's name with its part of the record."""
    for i in record["implementations"]:
        mine = {
            key: [entry for entry in record[key] if entry["implementation"] == i["name"]]
            for key in ("results", "verdicts")
        }
        yield i["name"], {**record, **mine, "implementations": [i]}


def _of_one(record: Record, shown_before: bool) -> list[str]:
    """Return the lines on mistakes, fixes and places, on what to read next, and on recommendations."""
    judged = [r for r in record["results"] if r["outcome"] in ("pass", "fail")]
    roots = [r for same in causes(record) for r in same if not r["deviation"]]
    wrong = [r for r in roots if r["counts"]]
    optional = [] if shown_before else _optional(record, wrong, roots)
    return [*_wrong(record, wrong, bool(judged)), _next(record, wrong), *optional]


def _wrong(record: Record, roots: list[Result], judged: bool) -> list[str]:
    """Return MOST_ROOTS mistakes in plain words, each followed by its fix and its place."""
    if words := _unrecognised(record, established=False):
        return words
    broken = [f"wrong: {words}" for v in record["verdicts"] for words in v["broken"]]  # no check is about it
    if broken and not roots:
        return broken
    if not roots:
        known = list(
            dict.fromkeys(r["requirement"] for r in record["results"] if r["deviation"] and not r["follows_from"])
        )
        reasons = (v["reason"] for v in record["verdicts"] if v["verdict"] in ("incomplete", "not-gradable"))
        short = list(dict.fromkeys(reasons))
        nothing = "nothing" if judged else "nothing was judged"
        nothing += f" but what is known, with its reason, above: {', '.join(known)}" if known else ""
        return [f"wrong: {nothing}" + (f"; not shown: {'; '.join(short)}" if short and judged else "")] + (
            [f"why:   {'; '.join(short)}"] if short and not judged else []
        )
    mistakes: dict[tuple[Row, ...], list[str]] = {}
    for r in roots:
        for told in _told(r):
            mistakes.setdefault(tuple(told), []).append(r["requirement"])
    follow = sum(bool(r["follows_from"]) for r in record["results"])
    lines = []
    for n, (rows, repeated) in enumerate(list(mistakes.items())[:MOST_ROOTS]):
        ids = list(dict.fromkeys(repeated))
        named = f" ({', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})"
        named += f"; {follow} failure{'s follow' if follow > 1 else ' follows'}" if follow and not n else ""
        lines += [f"{label + ':':<6} {text}{named if not at else ''}" for at, (label, text) in enumerate(rows)]
    more = len(mistakes) - MOST_ROOTS
    lines += [f"wrong: {more} more: without -q each is shown"] if more > 0 else []
    return [*lines, *broken, *_unrecognised(record, established=True)]


def _unrecognised(record: Record, established: bool) -> list[str]:
    """Return the lines on what computes something else, and is no known mistake."""
    unrecognised_ones = [v for v in record["verdicts"] if v["verdict"] == "unrecognised"]
    found = [v for v in unrecognised_ones if unrecognised.is_established(record, v) == established]
    return [line for v in found for line in (f"wrong: {v['reason']}", f"try:   say {unrecognised.naming(record, v)}")]


def _told(r: Result) -> list[list[Row]]:
    """Return the rows "wrong", "fix" or "try", and "where": of each known mistake, else of the failed check."""
    advice = r.get("advice") or {}
    told: list[list[tuple[str, str | None]]] = [
        [("wrong", mistake["story"]), ("fix", mistake["hint"]), ("where", place(mistake))] for mistake in r["diagnosis"]
    ] or [[("wrong", in_words(r)), ("try", advice.get("hint")), ("where", advice.get("where"))]]
    return [[(label, text) for label, text in rows if text] for rows in told]


def in_words(result: Result) -> str:
    """Return the story of the known mistake or of the argument, else the sentence of the check that does not hold."""
    story = result["diagnosis"][0]["story"] if result["diagnosis"] else (result.get("advice") or {}).get("story")
    return story or f"does not hold: {result['check'].replace('_', ' ')}"


def _next(record: Record, roots: list[Result]) -> str:
    if not roots:
        verdicts = {v["verdict"] for v in record["verdicts"]}
        if "unrecognised" in verdicts:
            return "next:  compare with the page of what it is meant to be; spec/README.md#verdicts says what is judged"
        if "not-gradable" in verdicts:
            return "next:  mend what keeps it from being judged, and run again"
        if verdicts == {"conformant"} or "nonconformant" in verdicts:  # only known deviations
            explored = record["suite"].get("thorough")
            more = "" if explored else "--thorough explores further; "
            return f"next:  {more}--blind-spots shows lines that no check ran"
        if record["suite"]["selected"]:
            return "next:  judge all of it: the same command without -k"
        return "next:  declare or support what is not shown, or choose a --profile that does not ask for it"
    first = roots[0]
    reference = "".join(f", then {place}" for place in first.get("reference") or [])
    return f"next:  read {first['spec']}{reference}; attnconf explain {first['requirement']}"


def _optional(record: Record, wrong: list[Result], roots: list[Result]) -> list[str]:
    """Return the lines on recommendations that are not followed: only ids if a MUST fails, else in full."""
    lax = [r for r in roots if r["quality"] and r["settled"] and not r["counts"]]
    ids = list(dict.fromkeys(r["requirement"] for r in lax))
    if not lax:
        return []
    if wrong:
        return [f"later: {', '.join(ids)}: could be better, no part of the verdict"]
    lines = [
        "",
        f"could be better: {len(ids)} recommendation{'s' * (len(ids) > 1)}, no part of the verdict but for --strict",
    ]
    seen: list[list[Row]] = []
    for r in lax:
        rows = [row for told in _told(r) for row in told]
        if rows not in seen:
            seen.append(rows)
            lines.append(f"  {r['requirement']} ({r['quality']}): {rows[0][1]}")
            lines += [f"    {label + ':':<6} {text}" for label, text in rows[1:]]
    return lines


def blind_spots(record: Record) -> list[str]:
    """Return the lines on code of the user's own files that no check executed, if the run looked for it."""
    lines = []
    for i in record["implementations"]:
        spots = i.get("blind_spots")
        if spots is None:
            continue
        hidden = [s for s in spots if s["kind"] in ("code", "branch")]
        lines += [f"not exercised: {_place(s)} ({_code(s)})" for s in hidden[:MOST_SPOTS]]
        lines += [f"not exercised: {len(hidden) - MOST_SPOTS} places more"] if len(hidden) > MOST_SPOTS else []
        lines += [f"not exercised: nothing that was called of {i['name']}"] if not hidden else []
        for kind, title in (("function", "never called"), ("error", "error branches that were not reached")):
            places = [
                f"{_place(s)} ({_code(s)})" if kind == "function" else _place(s) for s in spots if s["kind"] == kind
            ]
            lines += [f"{title}: {', '.join(places)}"] if places else []
    return ["", *lines] if lines else []


def _place(spot: dict[str, Any]) -> str:
    last = f"-{spot['last']}" if spot["last"] != spot["first"] else ""
    return f"{spot['file']}:{spot['first']}{last}"


def _code(spot: dict[str, Any]) -> str:
    if spot["kind"] == "function":
        return str(spot["code"].partition("(")[0].rstrip(":"))
    more = " …" if spot["last"] > spot["first"] and not spot["code"].endswith("…") else ""
    return f"{spot['code']}{more}"
