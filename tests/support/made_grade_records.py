"""Records of submissions that are made up: each result is said in a word, "pass", "value" or "unsupported"."""

from collections import Counter

from made_records import qualities

from attnconf.spec import registry

OUTCOMES = ("unsupported", "not-applicable", "not-run", "error")
MISTAKE = {
    "mutants": ["ATT-unscaled"], "story": "the scores are not divided", "hint": "divide them",
    "spec": "spec/attention.md#common-mistakes", "cases": 2, "where": "hw.py:12", "line": 12, "code": "s = q @ k",
}  # fmt: skip


def result(requirement, word="pass", component="attention", implementation="hw.py", **changes):
    """Return a result; ``word``: an outcome, or the reason of a failure. It has four cases, one of which passes."""
    known = registry.get(requirement)
    outcome = word if word in ("pass", *OUTCOMES) else "fail"
    names = ["one", "two", "three", "four"]
    outcomes = ["pass", "fail", "fail", "fail"] if outcome == "fail" else [outcome.replace("not-run", "error")] * 4
    return {
        "implementation": implementation, "component": component, "lens": "direct", "requirement": requirement,
        "strength": known.strength, "quality": known.quality or None, "counts": known.strength == "MUST",
        "settled": True, "sentence": known.sentence, "spec": known.anchor, "optional": False, "check": "it_holds",
        "outcome": outcome, "reason": word if outcome == "fail" else None,
        "message": None if outcome == "pass" else f"it is {word}", "convention": {}, "follows_from": [],
        "deviation": None, "explored": None, "diagnosis": [], "seconds": 0.1,
        "cases": [
            {"name": name, "described": name, "outcome": one, "message": None, "error": None, "bound": None,
             "source": None, "off": None}
            for name, one in zip(names, outcomes, strict=True)
        ],
    } | changes  # fmt: skip


def results(judged, verdicts=None, complete=True, planned=None):
    """Return a results record of these results; ``verdicts``: by (implementation, component), where not the usual."""
    by = {}
    for one in judged:
        by.setdefault((one["implementation"], one["component"]), []).append(one)
    for key in verdicts or {}:
        by.setdefault(key, [])
    names = dict.fromkeys(name for name, _ in by)
    return {
        "schema": "attnconf-results/1",
        "suite": {"version": "1", "spec": "1", "commit": None, "profile": "core-3", "seed": 0, "strict": False,
                  "selected": False},
        "environment": {"python": "3.11", "torch": "2.11", "platform": "Linux", "cpus": 2, "threads": 1,
                        "device": "cpu", "accelerator": None},
        "implementations": [
            {"name": name, "source": "hw.py", "version": None, "binding": "inferred", "conventions": {},
             "components": [c for n, c in by if n == name and c], "profile": None, "isolation": []}
            for name in names
        ],
        "planned": len(judged) if planned is None else planned,
        "results": list(judged),
        "verdicts": [_verdict(*key, own, (verdicts or {}).get(key)) for key, own in by.items()],
        "complete": complete,
    }  # fmt: skip


def _verdict(name, component, judged, said):
    by = Counter(one["outcome"] for one in judged)
    violated = any(one["outcome"] == "fail" and one["counts"] for one in judged)
    usual = "not-gradable" if by["error"] else "nonconformant" if violated else "incomplete"
    return {
        "implementation": name, "component": component, "verdict": said or usual, "reason": "so it is",
        "counts": dict(by), "choices": {}, "qualities": qualities(judged), "broken": [], "untried": [],
    }  # fmt: skip


def record(results, status="judged", **changes):
    """Return the record of a submission."""
    return {
        "schema": "attnconf-grade/1", "submission": "ada", "file": "ada/hw.py", "digest": "0" * 64, "status": status,
        "message": "" if status == "judged" else f"it was {status}", "notes": ["names x (hw.py:1)"],
        "results": results,
    } | changes  # fmt: skip
