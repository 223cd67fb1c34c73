"""What is said of a component that computes something else, while nobody knows which parameter is which.

Made from the record alone: the differences that were measured under the likeliest reading, and how to say what it is.
"""

import re
from typing import Any

from attnconf.reports.failures import INDENT, WIDTH, roots, wrapped

Record = dict[str, Any]
Result = dict[str, Any]

MOST = 4  # differences that are shown; all of them with -v
READING = ("weights ", "forward ", "function ")  # lines of a binding that say how it is read, the most telling first
WRAPS = (  # what a class is made ready by
    "dropping|each_sequence|functional|handed|held|in_single|layered|of_function|paired|registered|unpadded"
)
MADE = ("constructor ", "function ")  # lines that begin with the name of the class or function


def blocks(record: Record, width: int = WIDTH, verbose: bool = False) -> list[list[str]]:
    """Return a block of lines on every component that is not recognised."""
    return [_of_one(record, v, width, verbose) for v in record["verdicts"] if v["verdict"] == "unrecognised"]


def _of_one(record: Record, verdict: Record, width: int, verbose: bool) -> list[str]:
    differing = [f"{r['requirement']}: {r['message']}" for r in differences(record, verdict)]
    shown = differing if verbose else differing[:MOST]
    more = [f"and {len(differing) - len(shown)} more: -v shows them"] if len(shown) < len(differing) else []
    rows = [
        ("because", [verdict["reason"]]),
        ("looked at", _looked_at(record, verdict) if not is_established(record, verdict) else []),
        ("reading", [reading(record, verdict)] if differing else []),
        ("differs", [*shown, *more]),
        ("say", [naming(record, verdict)]),
    ]
    head = f"{verdict['implementation']} ({verdict['component']}) is not recognised"
    return [head, *(line for name, texts in rows for line in _laid_out(name, texts, width))]


def _looked_at(record: Record, verdict: Record) -> list[str]:
    """Return how many requirements were judged, and how many could not be as they depend on the parameters."""
    mine = [r for r in record["results"] if all(r[key] == verdict[key] for key in ("implementation", "component"))]
    judged = [r for r in mine if r["outcome"] in ("pass", "fail")]
    laws = [r["outcome"] == "pass" for r in judged if r["settled"]]
    return [
        f"{len(laws)} requirements that ask the same whichever parameter is which: {sum(laws)} hold",
        f"not judged: {len(judged) - len(laws)} others, which ask something else in each reading",
    ]


def is_established(record: Record, verdict: Record) -> bool:
    """Return whether it is known which parameter is which: then every requirement asks for numbers of its own."""
    mine = [r for r in record["results"] if all(r[key] == verdict[key] for key in ("implementation", "component"))]
    return all(r["settled"] for r in mine)


def differences(record: Record, verdict: Record) -> list[Result]:
    """Return the failures of MUSTs, at the root, that depend on which parameter is which."""
    mine = (verdict["implementation"], verdict["component"])
    unsettled = [r for r in roots(record) if not r["settled"] and r["strength"] == "MUST"]
    return [r for r in unsettled if (r["implementation"], r["component"]) == mine]


def reading(record: Record, verdict: Record) -> str:
    """Return the likeliest reading of the file, in the words of its binding: "if q_proj = q, …"."""
    words = next((text for start in READING if (text := _line(record, verdict, start))), "")
    return f"if it is read as at the head of this run: {words}" if words else "if it is read as at the head of this run"


def naming(record: Record, verdict: Record) -> str:
    """Return how to say what a file is, or how its parameters are to be read; not what has been said already."""
    said = re.search(r"@\w+$", verdict["implementation"])
    name = re.sub(r"(:[\w.]+)?(@\w+)?$", "", verdict["implementation"])
    made = next((text for start in MADE if (text := _line(record, verdict, start))), "")
    inside = re.match(rf"(?:(?:{WRAPS})\()*(\w+)", made)
    if not inside or name == inside[1]:  # an object, or what stands in no file of its own
        return f"what it is, with @{verdict['component']} behind its name, or another component"
    target = f"{name}:{inside[1]}"
    if said:
        return f"how it is read: attnconf bind {target}{said[0]} > adapter.py, and mend what is wrong in that"
    return (
        f"what it is: attnconf run --impl={target}@{verdict['component']}, or another component; or how it is read: "
        f"attnconf bind {target} > adapter.py, and mend what is wrong in that"
    )


def _line(record: Record, verdict: Record, start: str) -> str:
    named = [i for i in record["implementations"] if i["name"] == verdict["implementation"]]
    bound: list[str] = named[0].get("bound", []) if named else []
    return next((line[len(start) :].strip() for line in bound if line.startswith(start)), "")


def _laid_out(name: str, texts: list[str], width: int) -> list[str]:
    lines = [line for text in texts for line in wrapped(text, width - INDENT)]
    return [f"  {name if not n else '':<9} {line}" for n, line in enumerate(lines)]
