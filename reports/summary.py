"""What a learner reads last: what is right, what is wrong, what to read next; and what nothing exercised.

Made from the record alone.
"""

from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]
Result = dict[str, Any]

MOST_TOPICS, MOST_ROOTS, MOST_SPOTS = 8, 3, 12
SUMS = ("All of it", "All together", "Everything at once")  # sections that sum up the others


def summary(record: Record) -> list[str]:
    """Return the lines on the one implementation of a run, or on each of those that one file holds.

    None where several are compared, and where a run was cut short.
    """
    if not record["complete"] or not _is_one(record["implementations"]):
        return []
    lines: list[str] = []
    for name, part in _parts(record):
        lines += ["", *([name] if len(record["implementations"]) > 1 else []), *_of_one(part)]
    return lines


def _is_one(implementations: list[dict[str, Any]]) -> bool:
    """Return whether there is one implementation, or one file in which several were found."""
    found = all(i["binding"] == "inferred" or not i["components"] for i in implementations)
    return len(implementations) == 1 or (found and len({i["source"] for i in implementations}) == 1)


def _parts(record: Record) -> Iterator[tuple[str, Record]]:
    """Yield each implementation with what the record says of it."""
    for i in record["implementations"]:
        mine = {
            key: [entry for entry in record[key] if entry["implementation"] == i["name"]]
            for key in ("results", "verdicts")
        }
        yield i["name"], {**record, **mine, "implementations": [i]}


def _of_one(record: Record) -> list[str]:
    """Return three lines, and a fourth where what is recommended is not so and nothing worse is wrong."""
    judged = [r for r in record["results"] if r["outcome"] in ("pass", "fail")]
    roots = sorted(
        (r for r in judged if r["outcome"] == "fail" and not r["follows_from"] and not r["deviation"]),
        key=lambda r: r["strength"] != "MUST",
    )
    if not judged:
        reasons = "; ".join(v["reason"] for v in record["verdicts"] if v["verdict"] == "not-gradable")
        return ["right: nothing was judged", f"wrong: {reasons or _wrong(record, [])}", _next(record, roots)]
    wrong = [r for r in roots if r["strength"] == "MUST" or record["suite"]["strict"]]
    better = [f"could be better: {_told(roots)}"] if roots and not wrong else []
    return [f"right: {_right(judged)}", f"wrong: {_wrong(record, wrong)}", *better, _next(record, roots)]


def _right(judged: list[Result]) -> str:
    """Return what holds: the sections of up to three chapters, else the chapters; and how many requirements."""
    passed = sum(r["outcome"] == "pass" for r in judged)
    counted = f"{passed} of {len(judged)}"
    chapters = list(dict.fromkeys(_chapter(r) for r in judged))
    if len(chapters) > 3:
        return f"{', '.join(f'{c} {_share(c, judged)}' for c in chapters)} ({counted})"
    sections = dict.fromkeys(r["topic"] for r in judged if r.get("topic", "") not in ("", *SUMS))
    whole = [s for s in sections if all(r["outcome"] == "pass" for r in judged if r["topic"] == s)]
    words = [_lower(section) for section in whole]
    more = f" and {len(words) - MOST_TOPICS} sections more" if len(words) > MOST_TOPICS else ""
    return ("; ".join(words[:MOST_TOPICS]) + more or "no section of the page in full") + f" ({counted})"


def _chapter(result: Result) -> str:
    name: str = result["spec"].removeprefix("spec/").partition(".md")[0]
    return name.replace("multi_head", "multi-head").replace("_", " ")


def _share(chapter: str, judged: list[Result]) -> str:
    mine = [r["outcome"] == "pass" for r in judged if _chapter(r) == chapter]
    return f"all {len(mine)}" if all(mine) else f"{sum(mine)} of {len(mine)}"


def _lower(heading: str) -> str:
    return heading[:1].lower() + heading[1:]


def _wrong(record: Record, roots: list[Result]) -> str:
    """Return the failures at the root in plain words: the mistake where it is known, else what does not hold."""
    if not roots:
        lacking = [v["reason"] for v in record["verdicts"] if v["verdict"] == "incomplete"]
        return f"nothing; not shown: {'; '.join(lacking)}" if lacking else "nothing"
    follow = sum(bool(r["follows_from"]) for r in record["results"])
    return _told(roots) + (f"; {follow} failure{'s follow' if follow > 1 else ' follows'}" if follow else "")


def _told(roots: list[Result]) -> str:
    said: dict[str, list[str]] = {}
    for r in roots:
        ids = said.setdefault(in_words(r), [])
        ids += [r["requirement"]] if r["requirement"] not in ids else []
    lines = [f"{words} ({', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})" for words, ids in said.items()]
    more = f"; and {len(lines) - MOST_ROOTS} more" if len(lines) > MOST_ROOTS else ""
    return "; ".join(lines[:MOST_ROOTS]) + more


def in_words(result: Result) -> str:
    """Return what is wrong: the known mistake that was found, else which check does not hold."""
    found = result["diagnosis"][0]["story"] if result["diagnosis"] else ""
    return found or f"it is not so that {result['check'].replace('_', ' ')}"


def _next(record: Record, roots: list[Result]) -> str:
    if not roots:
        given = {v["verdict"] for v in record["verdicts"]}
        if "not-gradable" in given:
            return "next:  what keeps it from being judged, see above"
        if given == {"conformant"}:
            return "next:  --thorough and --blind-spots look further"
        return "next:  what is not shown, see above"
    first = roots[0]
    reference = "".join(f", then {place}" for place in first.get("reference") or [])
    return f"next:  read {first['spec']}{reference}; attnconf explain {first['requirement']}"


def blind_spots(record: Record) -> list[str]:
    """Return what no check executed of the user's own files, where that was looked for."""
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
            those = [
                f"{_place(s)} ({_code(s)})" if kind == "function" else _place(s) for s in spots if s["kind"] == kind
            ]
            lines += [f"{title}: {', '.join(those)}"] if those else []
    return ["", *lines] if lines else []


def _place(spot: dict[str, Any]) -> str:
    last = f"-{spot['last']}" if spot["last"] != spot["first"] else ""
    return f"{spot['file']}:{spot['first']}{last}"


def _code(spot: dict[str, Any]) -> str:
    if spot["kind"] == "function":
        return str(spot["code"].partition("(")[0].rstrip(":"))
    more = " …" if spot["last"] > spot["first"] and not spot["code"].endswith("…") else ""
    return f"{spot['code']}{more}"
