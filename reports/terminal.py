"""What a run prints: header, failures, the table, the verdicts. Made from the record alone."""

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from attnconf.reports import examples, throughput
from attnconf.reports.summary import blind_spots, summary

Record = dict[str, Any]
Result = dict[str, Any]

SHORT = {
    "pass": "pass", "fail": "FAIL", "unsupported": "unsupported", "not-applicable": "-", "not-run": "not run",
    "error": "ERROR",
}  # fmt: skip
LEGEND = "FAIL: at the root; follows: a consequence of it; known: listed beside the adapter, with reason and link"
_WORST_FIRST = ("error", "fail", "unsupported", "not-run", "pass", "not-applicable")


def page(record: Record) -> list[str]:
    """Return all that is printed at the end of a run."""
    parts = (failures, explored, table, blind_spots, verdicts, throughput.lines, summary)
    return [line for part in parts for line in part(record)]


def header(record: Record) -> list[str]:
    """Return what was judged with what: versions, device, profile, seed, bindings."""
    suite, env = record["suite"], record["environment"]
    accelerator = f" ({env['accelerator']})" if env["accelerator"] else ""
    lines = [
        f"attnconf {suite['version']}, torch {env['torch']}, {env['device']}{accelerator}, "
        f"{env['threads']} thread(s), seed {suite['seed']}"
    ]
    for i in record["implementations"]:
        binding = f"{', '.join(i['components'])} ({i['binding']}; profile {i['profile']})"
        lines.append(f"{i['name']}: {binding if i['components'] else 'nothing that can be judged'}")
        lines += [f"    {line}" for line in i.get("bound", [])]
    return lines


def failures(record: Record) -> list[str]:
    """Return a block for every failure that follows from no other, MUST first.

    Its consequences are folded under it, and so is what else one mistake explains.
    """
    return [line for lines in blocks(record) for line in ["", *lines]]


def blocks(record: Record) -> list[list[str]]:
    """Return the lines of every fault of the suite, and of every failure at the root or every cause of several."""
    faults = [
        [f"{r['requirement']} on {r['implementation']}: {r['message']}"]
        for r in record["results"]
        if r["outcome"] == "error"
    ]
    return [*faults, *(_of_cause(record, same) for same in causes(record))]


def causes(record: Record) -> list[list[Result]]:
    """Return the failures at the root, those of a component together that one known mistake explains."""
    found: dict[tuple[Any, ...], list[Result]] = {}
    for r in roots(record):
        named = tuple((*mistake["mutants"], mistake["hint"]) for mistake in r["diagnosis"])
        same = (r["implementation"], r["component"], named) if named and not r["deviation"] else (id(r),)
        found.setdefault(same, []).append(r)
    return list(found.values())


def _of_cause(record: Record, same: list[Result]) -> list[str]:
    """Return the block of the first of several failures that have one cause."""
    follow = dict.fromkeys(name for r in same for name in consequences(record, r))
    return block(same[0], list(follow), _options(record, same[0]), [r["requirement"] for r in same[1:]])


def roots(record: Record) -> list[Result]:
    """Return the failures that follow from no other, MUST first."""
    found = [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]
    return sorted(found, key=lambda r: r["strength"] != "MUST")


def explored(record: Record) -> list[str]:
    """Return a line for every failure that --thorough found where the scored cases pass."""
    return [
        f"not scored: {r['requirement']} fails on {r['implementation']} ({r['component']}) "
        f"at {r['explored']['described']}: {r['explored']['message']}"
        for r in record["results"]
        if r["outcome"] == "pass" and r["explored"]
    ]


def consequences(record: Record, root: Result) -> list[str]:
    """Return the failures that follow from one at the root."""
    return [
        r["requirement"]
        for r in record["results"]
        if root["requirement"] in r["follows_from"]
        and (r["implementation"], r["component"]) == (root["implementation"], root["component"])
    ]


def _options(record: Record, result: Result) -> str:
    """Return the options that a rerun needs besides the implementation and the selection."""
    suite = record["suite"]
    profile = "throughput" if result["spec"].startswith("spec/throughput.md") else suite["profile"]
    given = [] if profile.startswith("core") else [f"--profile={profile}"]  # core: where none is asked for
    given += [f"--convention={name}={choice}" for name, choice in suite.get("prescribed", {}).items()]
    given += [f"--seed={suite['seed']}"] if suite["seed"] else []
    given += [f"--device={record['environment']['device']}"] if record["environment"]["device"] != "cpu" else []
    return "".join(f" {option}" for option in given)


def block(result: Result, consequences: list[str], options: str = "", also: Sequence[str] = ()) -> list[str]:
    """Return one failure, in a fixed order of lines. ``also``: what fails at the root by the same mistake."""
    where = result["implementation"] + (f" ({result['component']})" if result["component"] else "")
    case = next(c for c in result["cases"] if c["outcome"] == "fail")
    failing = sum(c["outcome"] == "fail" for c in result["cases"])
    verb = "violated" if result["strength"] == "MUST" else "not followed"
    rows = [
        ("case", case["described"] + (f"   (fails on {failing} of {len(result['cases'])} cases)")),
        ("worst at" if case["error"] is not None else "found", case["message"]),
        ("error", _error(case)),
        ("smallest", result["explored"] and f"{result['explored']['described']}: {result['explored']['message']}"),
        ("likely", _likely(result)),
        ("example", examples.below(examples.example(result))),
        ("leaks", examples.below(examples.leaks(result))),
        ("known", result["deviation"] and f"{result['deviation']['reason']} ({result['deviation']['link']})"),
        ("also", ", ".join(also) and f"{', '.join(also)} (the same mistake)"),
        ("breaks", ", ".join(consequences) and f"{', '.join(consequences)} (consequences)"),
        ("spec", result["spec"]),
        (
            "rerun",
            f'attnconf run --impl={result["implementation"]}{options} -k "{result["requirement"]} and {case["name"]}"',
        ),
    ]
    head = [f"{result['requirement']} {verb} by {where}", f"  {result['sentence']}"]
    return head + [f"  {name:<9} {text}" for name, text in rows if text]


def _error(case: dict[str, Any]) -> str | None:
    if case["error"] is None:
        return None
    off = f"; {case['off']:.0f} % of elements off" if case["off"] is not None else ""
    return f"{case['error']:.3g} > {case['bound']:.2g} ({case['source']}){off}"


def _likely(result: Result) -> str | None:
    """Return the mistakes that were made together, each with its place and its hint, as the rest of a block."""
    found = result["diagnosis"]
    if not found:
        return None
    rows = []
    for index, mistake in enumerate(found):
        together = "together they reproduce" if len(found) > 1 else "reproduces"
        fits = f"{together} your output on {mistake['cases']} of {mistake['cases']} cases"
        rows.append(("and" if index else "likely", mistake["story"] + ("" if index else f"  ({fits})")))
        if mistake.get("where"):
            rows.append(("where", f"{mistake['where']}  {mistake['code']}"))
        rows.append(("hint", mistake["hint"]))
    return "\n".join(f"  {name:<9} {text}" for name, text in rows)[12:]


def cell(results: Iterable[Result]) -> str:
    """Return the worst outcome of one requirement on one implementation, and where, if components differ."""
    results = list(results)
    outcomes = [r["outcome"] for r in results]
    if not outcomes:
        return ""
    worst = next(o for o in _WORST_FIRST if o in outcomes)
    if worst == "not-applicable" or len(set(outcomes) - {"not-applicable"}) == 1:
        text = SHORT[worst]
    else:
        text = f"{SHORT[worst]} ({', '.join(r['component'] for r in results if r['outcome'] == worst)})"
    failed = [r for r in results if r["outcome"] == "fail"]
    if worst == "fail" and all(r["follows_from"] for r in failed):
        text = text.replace("FAIL", "follows")
    return text + (", known" if worst == "fail" and all(r["deviation"] for r in failed) else "")


def rows(record: Record) -> list[list[str]]:
    """Return one row for each requirement: id, strength, and a cell for each implementation."""
    names = [i["name"] for i in record["implementations"] if i["components"]]
    ids = dict.fromkeys((r["requirement"], r["strength"]) for r in record["results"])
    return [
        [name, strength]
        + [cell(r for r in record["results"] if (r["requirement"], r["implementation"]) == (name, i)) for i in names]
        for name, strength in ids
    ]


def table(record: Record) -> list[str]:
    """Return the table of requirements by implementations."""
    from tabulate import tabulate

    names = [i["name"] for i in record["implementations"] if i["components"]]
    content = rows(record)
    if not content:
        return []
    width = shutil.get_terminal_size((120, 24)).columns
    text = tabulate(content, headers=["requirement", "", *names], tablefmt="simple")
    if max(len(line) for line in text.splitlines()) > max(width, 80):
        text = tabulate(
            [[_shorter(c) for c in row] for row in content], headers=["requirement", "", *names], tablefmt="simple"
        )
    return ["", *text.splitlines(), *(["", LEGEND] if "FAIL" in text else [])]


def _shorter(text: str) -> str:
    return text.replace("multi_head_attention", "mha").replace("unsupported", "unsup.")


def counts(record: Record, verdict: dict[str, Any]) -> dict[str, int]:
    """Return the counts of a verdict, failures of a SHOULD apart from those of a MUST."""
    mine = (verdict["implementation"], verdict["component"])
    lax = sum(
        r["outcome"] == "fail" and r["strength"] != "MUST" and (r["implementation"], r["component"]) == mine
        for r in record["results"]
    )
    found = {**verdict["counts"], "fail": verdict["counts"].get("fail", 0) - lax, "recommended but not so": lax}
    return {outcome: n for outcome, n in found.items() if n}


def _observed(record: Record, verdict: Record) -> dict[str, str]:
    """Return the conventions that checks have seen in a component and that its adapter does not declare."""
    found: dict[str, str] = {}
    for result in record["results"]:
        if all(result[key] == verdict[key] for key in ("implementation", "component")):
            found |= result["convention"]
    return found


def verdicts(record: Record) -> list[str]:
    """Return a line for each verdict, with the profile where that is not the run's, counts and reason."""
    profiles = {i["name"]: i["profile"] for i in record["implementations"]}
    lines = [""]
    for v in record["verdicts"]:
        claimed = profiles.get(v["implementation"])
        against = f" by {claimed}" if claimed not in (None, record["suite"]["profile"]) else ""
        what = v["implementation"] + (f" {v['component']}" if v["component"] else "")
        found = ", ".join(f"{n} {outcome}" for outcome, n in counts(record, v).items())
        text = f"{what}: {v['verdict'].upper()}{against}" + (f" ({found})" if found else "")
        lines.append(text + (f"; {v['reason']}" if v["reason"] else ""))
        seen = _observed(record, v)
        if seen:
            lines.append("    not declared, seen: " + ", ".join(f"{key} = {choice}" for key, choice in seen.items()))
    if not record["complete"]:
        lines.append(f"INCOMPLETE: {len(record['results'])} of {record['planned']} planned checks came to an outcome")
    return lines
