"""The registry: every requirement, parsed from the chapter pages. The pages are the only source.

A requirement on a page is a heading of level four, one normative sentence, and one line of relations:

    #### ATT-SCALE-1
    When no scale is given, an implementation MUST use 1/√E.
    presupposes: ATT-SCORE-1 · needs: scale

A SHOULD has a quality there, too: ``quality: robust``, one of QUALITIES.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from attnconf.spec.nearest import hint

PAGES = Path(__file__).parent
CHAPTERS = {
    "ATT": "attention",
    "MASK": "masks",
    "MAKE": "mask_making",
    "MHA": "multi_head_attention",
    "FAM": "attention_family",
    "CACHE": "kv_cache",
    "PACK": "packed_sequences",
    "SIN": "sinusoidal",
    "LRN": "learned",
    "ROPE": "rotary",
    "ALIBI": "alibi",
    "REL": "relative_bias",
    "FOUR": "fourier",
    "CMLP": "coordinate_mlp",
    "LN": "layer_norm",
    "RMS": "rms_norm",
    "FF": "feed_forward",
    "ENC": "encoder",
    "DEC": "decoder",
    "TRF": "transformer",
    "LM": "language_model",
    "EMB": "token_embedding",
    "TOK": "tokenizer",
    "CALL": "calls",
    "PERF": "throughput",
}
QUALITIES = {  # what a SHOULD is about
    "robust": "ill-formed input is refused, layouts in memory, empty batches, rows nobody reads",
    "precise": "half precision, extreme scores and positions, large fills",
    "efficient": "memory and operations",
}
_WITHOUT_REFERENCE = frozenset({"calls", "throughput"})  # they have no mathematics of their own
_OF_COURSES: dict[str, Path] = {}  # the pages of chapters that a course brings

_ID = re.compile(r"[A-Z]+-[A-Z0-9]+-\d+")
_KEY_WORD = re.compile(r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b")


class SpecError(Exception):
    """A page, or a reference to a requirement, is wrong; the message says where."""


@dataclass(frozen=True)
class Requirement:
    """One normative sentence."""

    id: str
    chapter: str
    strength: str  # MUST, SHOULD or MAY
    sentence: str
    presupposes: tuple[str, ...]
    needs: frozenset[str]
    line: int
    quality: str = ""  # of a SHOULD: one of QUALITIES
    topic: str = ""  # the heading of the section it stands in

    @property
    def anchor(self) -> str:
        own = _OF_COURSES.get(self.chapter)
        return f"{f'{own.parent.name}/{own.name}' if own else f'spec/{self.chapter}.md'}#{self.id.lower()}"


def page(chapter: str) -> Path:
    """Return the page of a chapter."""
    return _OF_COURSES.get(chapter, PAGES / f"{chapter}.md")


def has_reference(chapter: str) -> bool:
    """Return whether a chapter has mathematics of its own, in ``reference/``."""
    return chapter not in _WITHOUT_REFERENCE and not of_course(chapter)


def of_course(chapter: str) -> bool:
    """Return whether a course has brought a chapter."""
    return chapter in _OF_COURSES


def may_be_of_course(name: str) -> str:
    """Return words, for the end of a message, on an id that a course might have; "" for any other name."""
    prefix, _, rest = name.partition("-")
    return (
        "; --with FOLDER uses a course that has it" if rest and prefix not in CHAPTERS and _ID.fullmatch(name) else ""
    )


def add(prefix: str, chapter: str, own_page: Path) -> None:
    """Add the chapter that a course brings. Raises SpecError for a prefix or name that there is, or a wrong page."""
    if prefix in CHAPTERS or chapter in CHAPTERS.values():
        raise SpecError(f"prefix {prefix!r}, chapter {chapter!r}: the specification has one of this name")
    CHAPTERS[prefix] = chapter
    _OF_COURSES[chapter] = own_page
    requirements.cache_clear()
    ancestors.cache_clear()
    requirements()


@cache
def requirements() -> dict[str, Requirement]:
    """Return every requirement by id, in the order of the pages.

    Raises SpecError where a page breaks the form, an id occurs twice, or presuppositions form a circle.
    """
    found: dict[str, Requirement] = {}
    for chapter in CHAPTERS.values():
        for requirement in parse(page(chapter), chapter):
            if requirement.id in found:
                raise SpecError(f"{requirement.id} is defined twice, in {found[requirement.id].anchor} too")
            found[requirement.id] = requirement
    for requirement in found.values():
        for other in requirement.presupposes:
            if other not in found:
                raise SpecError(f"{requirement.anchor} presupposes {other}, which {_unknown(other, found)}")
    in_order(found)
    return found


def parse(path: Path, chapter: str) -> list[Requirement]:
    """Return the requirements of one page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    topic = ""
    for at, line in enumerate(lines):
        if line.startswith("## "):
            topic = line.removeprefix("## ").strip()
        if line.startswith("#### "):
            name = line.removeprefix("#### ").strip()
            if not _ID.fullmatch(name) or CHAPTERS.get(name.split("-")[0]) != chapter:
                raise SpecError(f"{path.name}:{at + 1}: {name!r} is not an id of the chapter {chapter}")
            found.append(replace(_parse_one(name, chapter, lines[at + 1 : at + 3], at + 1, path.name), topic=topic))
    return found


def _parse_one(name: str, chapter: str, body: list[str], line: int, page: str) -> Requirement:
    sentence = body[0].strip() if body else ""
    key_words = _KEY_WORD.findall(sentence)
    if len(key_words) != 1:
        raise SpecError(f"{page}:{line + 1}: {name} must be one sentence with one key word, found {key_words}")
    relations: dict[str, tuple[str, ...]] = {"presupposes": (), "needs": (), "quality": ()}
    if len(body) > 1 and re.match(rf"({'|'.join(relations)}):", body[1]):
        for part in body[1].split("·"):
            key, _, values = part.partition(":")
            if key.strip() not in relations:
                raise SpecError(f"{page}:{line + 2}: {key.strip()!r} is none of {', '.join(relations)}")
            relations[key.strip()] = tuple(value.strip() for value in values.split(","))
    strength, quality = key_words[0].split()[0], ", ".join(relations["quality"])
    if (strength == "SHOULD") != (quality in QUALITIES):
        raise SpecError(f"{page}:{line + 2}: a SHOULD, and nothing else, has a quality: {', '.join(QUALITIES)}")
    needs = frozenset(relations["needs"])
    return Requirement(name, chapter, strength, sentence, relations["presupposes"], needs, line, quality)


def get(name: str) -> Requirement:
    """Return one requirement. Raises SpecError with the nearest id where there is none of this name."""
    found = requirements()
    if name not in found:
        raise SpecError(f"unknown requirement {name!r}: it {_unknown(name, found)}")
    return found[name]


def _unknown(name: str, known: dict[str, Requirement]) -> str:
    return f"is on no page of the spec{hint(name, known)}"


def in_order(found: dict[str, Requirement]) -> list[str]:
    """Return the ids in the order of the pages, but each after all that it presupposes.

    Raises SpecError where presuppositions form a circle.
    """
    placed: dict[str, None] = {}

    def place(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise SpecError("presuppositions form a circle: " + " -> ".join((*path, name)))
        if name not in placed:
            for other in found[name].presupposes:
                place(other, (*path, name))
            placed[name] = None

    for name in found:
        place(name, ())
    return list(placed)


@cache
def ancestors(name: str) -> frozenset[str]:
    """Return the ids that a requirement presupposes, directly or not."""
    direct = get(name).presupposes
    return frozenset(direct).union(*(ancestors(other) for other in direct))
