"""What cannot be true of a run, though the form of its results file is right."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
Result = Mapping[str, Any]


def contradiction(record: Record) -> str | None:
    """Return in words what a record says against itself; None if there is nothing."""
    return _of_names(record) or _of_results(record) or _of_verdicts(record)


def _of_names(record: Record) -> str | None:
    names = [i["name"] for i in record["implementations"]]
    if twice := next((name for name in names if names.count(name) > 1), None):
        return f"two implementations are called {twice!r}"
    known = set(names)
    for entry in (*record["results"], *record["verdicts"]):
        if entry["implementation"] not in known:
            return f"{entry['implementation']!r} was judged, and is none of its implementations"
    return None


def _of_results(record: Record) -> str | None:
    for r in record["results"]:
        if r["outcome"] == "fail" and all(case["outcome"] != "fail" for case in r["cases"]):
            return f"{r['requirement']} fails on {r['implementation']}, and on none of its cases"
        if r["outcome"] == "pass" and (wrong := _of_cases(r["cases"])):
            return f"{r['requirement']} passes on {r['implementation']}, and {wrong}"
    if record["complete"] and len(record["results"]) != record["planned"]:
        return f"it is complete, with {len(record['results'])} of {record['planned']} results"
    return None


def _of_cases(cases: Sequence[Result]) -> str | None:
    """Return what stands against a pass in its cases. A failure may be within its bound: others are not recorded."""
    for case in cases:
        for dtype, found in (("", case), *case.get("by_dtype", {}).items()):
            where = f"its case {case['name']}{f' in {dtype}' if dtype else ''}"
            error, bound = found["error"], found["bound"]
            if found["outcome"] == "fail":
                return f"fails on {where}"
            if error is not None and bound is not None and error > bound:
                return f"is off by {error:.3g} on {where}, where {bound:.3g} is allowed"
    return None


def _of_verdicts(record: Record) -> str | None:
    """Return what stands against a verdict; of a run that was cut short none is shown but incomplete."""
    if not record["complete"]:
        return None
    judged: dict[tuple[str, str | None], list[Result]] = {}
    for r in record["results"]:
        judged.setdefault((r["implementation"], r["component"]), []).append(r)
    told = Counter((v["implementation"], v["component"]) for v in record["verdicts"])
    for name, component in [*judged, *told]:
        if told[name, component] != 1:
            number = "more than one verdict" if told[name, component] else "no verdict"
            return f"there is {number} on {component or 'the whole'} of {name}"
    for v in record["verdicts"]:
        wrong = _against(v, judged.get((v["implementation"], v["component"]), []))
        if wrong:
            where = f" ({v['component']})" if v["component"] else ""
            return f"{v['implementation']}{where} is said to be {v['verdict']}, and {wrong}"
    return None


def _against(verdict: Result, results: Sequence[Result]) -> str | None:
    """Return in words what stands against a verdict in the results of its component; None if they agree.

    ``counts`` of a result has --strict and the profile in it already. A known deviation counts like any failure. What
    was not established may be unrecognised whatever its results are.
    """
    counted = Counter(r["outcome"] for r in results)
    if counted != Counter(verdict["counts"]):
        return f"counts {_numbers(verdict['counts'])}, where its results are {_numbers(counted)}"
    if (met := _met(results)) != verdict["qualities"]:
        return f"meets {_shares(verdict['qualities'])}, where its results are {_shares(met)}"
    failed = [r["requirement"] for r in results if r["outcome"] == "fail" and r["counts"]]
    faults = [r["requirement"] for r in results if r["outcome"] == "error"]
    said = verdict["verdict"]
    if said == "nonconformant" and not failed and not verdict["broken"]:
        return "no failure counts"
    if said in ("conformant", "incomplete") and failed:
        return f"{failed[0]} fails"
    if said == "conformant" and faults:
        return f"the suite itself failed on {faults[0]}"
    if said == "conformant" and (lacking := _lacking(results)):
        return f"{lacking[0]} was not judged"
    if said == "not-gradable" and results and not faults:
        return "the suite failed on none of its requirements"
    return None


def _met(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    """Return by quality how many of the recommendations that were judged are met."""
    met: dict[str, list[bool]] = {}
    for r in results:
        if r["quality"] and r["settled"] and r["outcome"] in ("pass", "fail"):
            met.setdefault(r["quality"], []).append(r["outcome"] == "pass")
    return {quality: {"met": sum(of_one), "judged": len(of_one)} for quality, of_one in met.items()}


def _lacking(results: Sequence[Result]) -> list[str]:
    return [
        r["requirement"]
        for r in results
        if r["outcome"] in ("unsupported", "not-run") and r["counts"] and not r["optional"]
    ]


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())) or "none"


def _shares(qualities: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(f"{quality} {n['met']} of {n['judged']}" for quality, n in sorted(qualities.items())) or "none"
