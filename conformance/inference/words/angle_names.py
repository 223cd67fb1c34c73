"""Names of arguments that are tables of angles, by which queries and keys are turned, and of where tokens begin."""

import inspect
import re
from inspect import Parameter
from typing import Any

from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.source_text import code_reached

ROLE, PLACES, START = "angles: ", "places: ", "start"
_OF_TABLES = r"(cache[ds]?|tables?|embs?|embeddings?|freqs?|vals?|values)"
KINDS = {
    "cos": rf"(\w+_)?(cos|cosines?)(_{_OF_TABLES})?",
    "sin": rf"(\w+_)?(sin|sines?)(_{_OF_TABLES})?",
    "both": r"(\w+_)?(cos_?(and_?)?sin|sin_?(and_?)?cos)(_\w+)?|freqs?(_(cis|complex))?|(pos_)?cis|"
    rf"(rope|rotary)(_(pos_)?({_OF_TABLES}|freqs_cis|angles))?|(rotation_)?angles|position_embeddings",
}
BEGINS = r"(start|begin|first|offset)_?(pos(ition)?|idx|index)|pos(ition)?_?(start|offset)"

COUNTED = r"(token_|input_)?positions?(_?ids)?|(input_)?pos_?ids"


def kind_of(name: str) -> str:
    """Return whether a table of that name holds cosines, sines or both; nothing where it says that it is no table."""
    plain = snake(name).strip("_")
    kinds = [kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, plain)]
    return "both" if "both" in kinds else next(iter(kinds), "")


def is_table(name: str) -> bool:
    """Return whether a name can be that of nothing but a table: frequencies may be a number."""
    return kind_of(name) != "" and re.fullmatch(r"freqs?|angles", snake(name).strip("_")) is None


def is_place(name: str) -> bool:
    """Return whether a name says that an argument has the position of each token."""
    return re.fullmatch(COUNTED, snake(name).strip("_")) is not None


def role_of(p: Parameter) -> str:
    """Return the role of a parameter that has to be given and is a table, or where tokens begin or are; or nothing."""
    if p.default is not p.empty:
        return ""
    if is_place(p.name):
        return PLACES
    if re.fullmatch(BEGINS, snake(p.name).strip("_")):
        return START
    return ROLE if kind_of(p.name) else ""


def as_needed(parameters: list[Parameter], target: Any) -> list[Parameter]:
    """Return the parameters of a call; a table that may be None has to be given where no code asks whether it is."""
    optional = [p.name for p in parameters if p.default is None and is_table(p.name)]
    code = code_reached(inspect.unwrap(getattr(target, "__func__", target))) if optional else ""
    needed = {n for n in optional if len(re.findall(rf"\b{n}\b", code)) > 1
              and not re.search(rf"\b{n} is |\b(if|and|or|not) {n}\b(?!\[)|\b{n} (and|or|if)\b", code)}  # fmt: skip
    return [p.replace(default=p.empty, kind=p.KEYWORD_ONLY) if p.name in needed else p for p in parameters]


def may_be_of_a_turn(p: Parameter, thing: Any) -> bool:
    """Return whether a number may say how much of a head turns: a fraction by default, in code that takes cosines."""
    fraction = isinstance(p.default, float) and 0.1 <= p.default < 1
    return fraction and re.search(r"\b(cos|polar)\(", code_reached(thing)) is not None
