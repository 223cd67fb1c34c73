"""A difference as one HTML page, with the failure behind each thing that got worse."""

from attnconf.reports.comparison import evidence
from attnconf.reports.comparison.rendering import template
from attnconf.reports.diff.changes import KINDS, Change, Difference
from attnconf.reports.diff.text import HEAD, TITLES, counts


def page(found: Difference) -> str:
    """Return the page."""
    blocks = {of_one.label: of_one for of_one in evidence.evidence(found.after.values())}

    def block(change: Change) -> evidence.Block | None:
        i = found.after.get(change.implementation)
        if i is None or change.result is None:
            return None
        of_one = blocks[i.label]
        anchor = of_one.anchors.get(evidence.key(change.result))
        return next((b for b in of_one.blocks if b.anchor == anchor), None)

    parts = [
        {"kind": kind, "title": TITLES[kind], "rows": [(c, block(c) if kind == "worse" else None) for c in changes]}
        for kind in KINDS
        if (changes := found.of(kind))
    ]
    return str(template("diff.html").render(found=found, parts=parts, head=HEAD, counts=counts(found)))
