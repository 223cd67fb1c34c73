"""Results records that are made up: a wrong and a right implementation, and as many as are asked for."""

DEVIATION = {"reason": "as | published", "link": "https://example.org/why"}
MISTAKE = {
    "mutants": ["ATT-unscaled"],
    "story": "the scores are not divided by √E",
    "hint": "divide them",
    "spec": "spec/attention.md#common-mistakes",
    "cases": 1,
    "where": "homework.py:12",
    "line": 12,
    "code": "scores = q @ k.mT",
}


LEAKS = {
    "what": "causal, sample 0 of 2, head 0",
    "rows": ["query 0", "query 1"],
    "columns": ["key 0", "key 1"],
    "cells": ["oX", "oo"],
}
NO_MORE = {"choices": {}, "broken": [], "untried": [], "qualities": {}}  # of a verdict


def result(name, requirement, outcome="pass", **changes):
    failed = outcome == "fail"
    case = {
        "name": "peaked-3",
        "described": "peaked-3: q(2, 3)",
        "outcome": outcome if failed else "pass",
        "message": None,
        "error": 0.5 if failed else 5e-7,
        "bound": 1e-6,
        "source": "semantic gap" if failed else None,
        "off": 50.0 if failed else None,
    }
    return {
        "implementation": name,
        "component": "attention",
        "lens": "direct",
        "requirement": requirement,
        "strength": "MUST",
        "quality": "precise" if changes.get("strength") == "SHOULD" else None,
        "counts": changes.get("strength", "MUST") == "MUST",
        "settled": True,
        "sentence": f"It MUST hold {requirement}.",
        "spec": f"spec/attention.md#{requirement.lower()}",
        "optional": False,
        "check": "it_holds",
        "outcome": outcome,
        "reason": "value" if failed else None,
        "message": "out[0]: got 1, want 2" if failed else None,
        "convention": {},
        "follows_from": [],
        "deviation": None,
        "cases": [case],
        "explored": None,
        "diagnosis": [],
        "seconds": 0.1,
    } | changes


def qualities(results):
    judged = [r for r in results if r["quality"] and r["settled"] and r["outcome"] in ("pass", "fail")]
    by = {r["quality"]: [one["outcome"] for one in judged if one["quality"] == r["quality"]] for r in judged}
    return {name: {"met": found.count("pass"), "judged": len(found)} for name, found in by.items()}


def record(name, results, version=None, conventions=None, verdict="nonconformant", **changes):
    counts = {o: sum(r["outcome"] == o for r in results) for o in sorted({r["outcome"] for r in results})}
    return {
        "schema": "attnconf-results/1",
        "suite": {
            "version": "0.1.0",
            "spec": "0.1.0",
            "commit": None,
            "profile": "core-1",
            "seed": 0,
            "strict": False,
            "selected": False,
        },
        "environment": {
            "python": "3.11.7",
            "torch": "2.13.0",
            "platform": "Linux",
            "cpus": 2,
            "threads": 1,
            "device": "cpu",
            "accelerator": None,
        },
        "implementations": [
            {
                "name": name,
                "source": f"{name}.py",
                "version": version,
                "binding": "adapter",
                "components": ["attention"],
                "conventions": conventions or {},
                "profile": "core-1",
                "isolation": [],
            }
        ],
        "planned": len(results),
        "results": results,
        "verdicts": [
            {
                "implementation": name,
                "component": "attention",
                "verdict": verdict,
                "reason": "r",
                "counts": counts,
                **NO_MORE,
                "qualities": qualities(results),
            }
        ],
        "complete": True,
    } | changes


WRONG = record(
    "wrong",
    [
        result("wrong", "ATT-SCALE-1", "fail", diagnosis=[MISTAKE]),
        result("wrong", "ATT-ORACLE-1", "fail", follows_from=["ATT-SCALE-1"]),
        result("wrong", "ATT-ROWS-1", "fail", deviation=DEVIATION),
        result("wrong", "ATT-PREC-2", "fail", strength="SHOULD", sentence="It SHOULD be precise."),
        result("wrong", "ATT-DROP-1", "unsupported", message="no dropout <here>"),
        result("wrong", "ATT-DROP-2", "unsupported", message="no dropout <here>"),
        result("wrong", "ATT-HALF-1", "error", message="fault of the suite: KeyError"),
    ],
    conventions={"fully-masked-row": "nan"},
)
RIGHT = record("right", [result("right", "ATT-SCALE-1"), result("right", "ATT-GRAD-1")], verdict="conformant")


def many(implementations, requirements):
    """Return a record of this many implementations; each fails another tenth of the requirements."""
    whole = record("impl-0", [])
    whole["implementations"], whole["verdicts"] = [], []
    for i in range(implementations):
        results = [_one_of_many(f"impl-{i}", i, n) for n in range(requirements)]
        one = record(f"impl-{i}", results, conventions={"rope-pairing": "half" if i % 2 else "interleaved"})
        for key in ("implementations", "results", "verdicts"):
            whole[key] += one[key]
    return whole | {"planned": len(whole["results"])}


def _one_of_many(name, i, n):
    wrong = (n + i) % 10 == 0
    diagnosis = [MISTAKE] if n % 20 == 0 else []
    about = {"topic": f"Section {n // 7}", "sentence": f"An implementation MUST do what number {n} says, and no less."}
    case = {
        "error": 0.5 if wrong else 1e-9 * (n + i),
        "bound": 1e-6,
        "described": f"small-{n}: q(2, 3, {n}, 7) float64",
    }
    made = result(name, f"ATT-MADE-{n}", "fail" if wrong else "pass", **about, diagnosis=diagnosis if wrong else [])
    made["cases"][0] |= case
    follows = [f"ATT-MADE-{n - 1}"] if wrong and n % 3 else []
    return made | {"follows_from": follows}
