"""Grades and their records that are made up: a class of a right, a wrong, a hostile and a broken submission."""

import dataclasses

from made_records import LEAKS, MISTAKE, record, result

from attnconf.conformance.grading.rubric import Item, Rubric, Wanted
from attnconf.conformance.grading.scoring import Grade, Part, Scored

SENTENCES = {
    "ATT-SCALE-1": "An implementation MUST use 1/√E when no scale is given.",
    "ATT-MASK-1": "Where M is False, A MUST be exactly 0.",
    "ATT-ORACLE-1": "The output MUST equal the formula.",
    "ATT-GRAD-1": "Gradients MUST be those of the formula.",
}
SEED = 987654321
RUBRIC = Rubric(
    title="Homework 3",
    wanted=(Wanted("attention"),),
    items=(
        Item("Scale", 2, "attention", ("ATT-SCALE-1",)),
        Item("Masks", 3, "attention", ("ATT-MASK-1",)),
        Item("All of it", 4, "attention", ("ATT-ORACLE-1", "ATT-GRAD-1")),
    ),
    profile="core-1",
    text='title = "Homework 3"\n',
    source="hw3.toml",
)


def batch(**changes):
    """Return a batch that is open."""
    return {
        "schema": "attnconf-batch/1", "suite": "0.1.0", "rubric": "", "rubric_source": "hw3.toml", "seed": SEED,
        "closed": False, "isolation": ["process", "network"], "plan": [], "submissions": [],
    } | changes  # fmt: skip


def part(requirement, status="passed", **changes):
    """Return what was earned of a requirement: all or nothing."""
    made = Part(
        "attention", requirement, float(status == "passed"), status, SENTENCES.get(requirement, "It MUST hold."),
        f"spec/attention.md#{requirement.lower()}", "" if status == "passed" else "out[0]: got 1, want 2",
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def scored(item, parts, **changes):
    """Return what was earned of an item."""
    share = sum(p.earned for p in parts) / len(parts)
    status = "full" if share == 1 else "partial" if share else "none"
    reason = "" if share == 1 else f"{sum(p.earned < 1 for p in parts)} of {len(parts)} requirements failed"
    made = Scored(
        item.name, item.component, item.points * share, item.points, status, reason, item.visibility, item.hint,
        tuple(parts),
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def grade(name, items, status="judged", **changes):
    """Return the grade of a submission."""
    made = Grade(
        name, f"{name}/homework.py", sum(i.earned for i in items), sum(i.points for i in items), status, "",
        ("attention: nonconformant",), tuple(items),
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def judged(name, results=(), **changes):
    """Return the record of a submission with these results."""
    found = record("homework.py", list(results)) if results is not None else None
    if found:
        found["suite"]["seed"] = SEED
    return {
        "schema": "attnconf-grade/1", "submission": name, "file": f"{name}/homework.py", "digest": name, "message": "",
        "status": "judged", "notes": [], "results": found,
    } | changes  # fmt: skip


RIGHT = grade("ada", [scored(i, [part(r) for r in i.requirements]) for i in RUBRIC.items])
WRONG_PARTS = (
    [part("ATT-SCALE-1", "value", mistake="ATT-unscaled", story=MISTAKE["story"], hint=MISTAKE["hint"])],
    [part("ATT-MASK-1", "property", message="output 0 depends on key 1")],
    [part("ATT-ORACLE-1", "value", follows_from=("ATT-SCALE-1",)), part("ATT-GRAD-1")],
)
WRONG = grade(
    "bob",
    [scored(i, parts) for i, parts in zip(RUBRIC.items, WRONG_PARTS, strict=True)],
    notes=("torch.nn.MultiheadAttention, homework.py:3",),
    for_instructor=("it changed its argument in place",),
)
WRONG_RECORD = judged(
    "bob",
    [
        result("homework.py", "ATT-SCALE-1", "fail", diagnosis=[MISTAKE], sentence=SENTENCES["ATT-SCALE-1"]),
        result("homework.py", "ATT-MASK-1", "fail", leaks=LEAKS, sentence=SENTENCES["ATT-MASK-1"]),
        result("homework.py", "ATT-ORACLE-1", "fail", follows_from=["ATT-SCALE-1"]),
        result("homework.py", "ATT-GRAD-1"),
    ],
)


def unjudged(name, status, message):
    """Return the grade of a submission that could not be judged, and its record."""
    items = [scored(i, [part(r, "not-judged", message=message) for r in i.requirements]) for i in RUBRIC.items]
    made = grade(name, items, status, message=message, verdicts=())
    return made, judged(name, None, status=status, message=message)


def hostile(text):
    """Return a grade, and its record, in which everything that comes from a submission is this text."""
    parts = [
        [part(r, "raised", message=text, where=text, story=text, hint=text, mistake="ATT-unscaled")]
        for r in ("ATT-SCALE-1", "ATT-MASK-1")
    ]
    items = [scored(i, p, reason=text) for i, p in zip(RUBRIC.items, parts, strict=False)]
    items.append(scored(RUBRIC.items[2], [part("ATT-ORACLE-1"), part("ATT-GRAD-1")]))
    made = grade(text, items, file=text, notes=(text,), for_instructor=(text,), verdicts=(text,), message=text)
    mistake = MISTAKE | {"where": text, "code": text, "story": text or "s", "hint": text or "h"}
    failing = result("homework.py", "ATT-SCALE-1", "fail", message=text or "m", diagnosis=[mistake])
    failing["cases"][0] |= {"message": text, "described": text}
    leaking = result("homework.py", "ATT-MASK-1", "fail", leaks=LEAKS | {"what": text or "w"})
    return made, judged(text, [failing, leaking], file=text, message=text, notes=[text])


def with_item(rubric, called, **changes):
    """Return a rubric with one item changed."""
    items = tuple(dataclasses.replace(i, **changes) if i.name == called else i for i in rubric.items)
    return dataclasses.replace(rubric, items=items)


def regraded(made, name, **changes):
    """Return a grade with one item changed."""
    items = tuple(dataclasses.replace(i, **changes) if i.name == name else i for i in made.items)
    return dataclasses.replace(made, items=items)
