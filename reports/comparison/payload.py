"""The data that the page's script opens: requirements, and what each cell says. Texts that repeat stand once."""

from collections.abc import Mapping, Sequence
from typing import Any

from attnconf.reports.comparison import evidence
from attnconf.reports.comparison.matrix import KINDS, Requirement, Section, letter_of
from attnconf.reports.comparison.visible import deeply
from attnconf.reports.merging import Judged


class _Numbered:
    """Things by number: each stands once, however often it is said."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, thing: Any) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))


def payload(
    shown: Sequence[Judged], sections: Sequence[Section], blocks: Sequence[evidence.Evidence],
    passages: Mapping[str, Sequence[str]], root: str | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the data of a page with these columns, as plain lists.

    ``passages``: what pages say around requirements; a row of ``sections`` has the numbers of its own.
    ``results``: for each requirement, and each column with something to say, a list of results: the number of what is
    said, or that with the anchor of its block. ``said``: component and lens, the text's number, the letter.
    """
    texts, sayings, around = _Numbered(), _Numbered(), _Numbered()
    anchors = {e.label: e.anchors for e in blocks}
    results: dict[str, dict[int, list[Any]]] = {}
    for column, i in enumerate(shown):
        for r in i.results:
            where = texts.number(f"{r['component']} ({r['lens']})")
            said = sayings.number((where, texts.number(_said(r)), letter_of(r)))
            anchor = anchors.get(i.label, {}).get(evidence.key(r))
            told = results.setdefault(r["requirement"], {}).setdefault(column, [])
            told.append([said, anchor] if anchor else said)
    rows = [
        [_row(r, [around.number(x) for x in passages.get(r.id, ())], root) for r in s.requirements] for s in sections
    ]
    return {
        "columns": deeply([i.label for i in shown]),
        "kinds": {kind.letter: [kind.sign, kind.word] for kind in KINDS},
        "sections": rows,
        "passages": list(around.numbers),
        "texts": deeply(list(texts.numbers)),
        "said": list(sayings.numbers),
        "results": results,
    }


def _row(r: Requirement, passages: list[int], root: str | None) -> list[Any]:
    about = [r.id, r.strength, r.quality, *deeply([r.sentence])]
    return [*about, passages, _link(r.spec, root), r.letters]


def _said(r: dict[str, Any]) -> str:
    follows = f"follows from {', '.join(r['follows_from'])}. " if r["follows_from"] else ""
    return follows + evidence.line(r)


def _link(spec: str, root: str | None) -> list[str]:
    """Return the place of a requirement in words, and its address if there is one."""
    return [spec] if root is None else [spec, f"{root}{spec}"]
