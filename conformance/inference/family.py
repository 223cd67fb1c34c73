"""What attention has besides: options of a constructor by which it says that it is more than the attention of 2017.

An option whose name says which (fewer heads of keys, a cap, a scale) is asked for with that meaning. Where it computes
what the textbook computes, or what a known mistake in it does, it is declared and judged as the rest is.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.attention_requests import COMPONENT, request
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.trial import Certificate
from attnconf.conformance.inference.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import expression_of

SIZES = (24, 6, 4)  # three heads of queries share each of two heads of keys: side by side is not in turn
SHARED = 2


@dataclass(frozen=True)
class Member:
    """An option of the family: what it is called, what it may be handed, and what declares it."""

    names: str
    values: tuple[str, ...]
    declares: tuple[str, str]
    asked: Mapping[str, Any]


MEMBERS = (
    Member(
        r"(n|num)_?(kv|key_?value)_?heads?|(kv|key_?value)_?heads?|(n|num)_?heads?_?kv|(n|num)_?(query_?|kv_?)?groups",
        ("config.num_kv_heads or config.num_heads", "config.num_heads // (config.num_kv_heads or config.num_heads)"),
        ("kv-heads", "grouped"),
        {"num_kv_heads": SHARED},
    ),
    Member(
        r"((att(entio)?n?|scores?)_?)?(logits?_?)?soft_?cap(ping)?(_value)?",
        ("config.softcap",),
        ("score-cap", "given"),
        {"softcap": 1.5},
    ),
    Member(
        r"(qk_?|softmax_?|att(entio)?n_?|score_?)?scal(e|ing)(_?value)?",
        ("config.scale",),
        ("score-scale", "given"),
        {"scale": 0.3},
    ),
)


def with_family(place: Place, text: AttentionText, certified: str | None) -> AttentionText:
    """Return the text with the options of its constructor that are the family's, each judged as what its name says."""
    if (
        certified != "reference"
        or not inspect.isclass(place.thing)
        or text.heads_last
        or not text.made.given >= {"heads"}
    ):
        return text
    for p in parameters_of(place.thing):
        for member in MEMBERS:
            if _offers(p, member) and not re.search(rf"\b{p.name}=", text.made.text):
                text = _with(place, text, p.name, member)
    return text


def _offers(p: inspect.Parameter, member: Member) -> bool:
    """Return whether a parameter is off by default: what is always there has been bound already, or is no option."""
    off = p.default is None or (type(p.default) in (int, float) and p.default == 0)
    return off and re.fullmatch(member.names, snake(p.name)) is not None


def _with(place: Place, text: AttentionText, name: str, member: Member) -> AttentionText:
    """Return the text that hands an option on, if what comes of it is known: as the textbook has it, else a mistake."""
    mistaken: list[AttentionText] = []
    for value in member.values:
        one = text.but(made=_given(text, name, value), family=(*text.family, member.declares))
        certificate = Certificate(COMPONENT, [*_requests(one, member)])
        given = certificate.replies(one.implementation(place))
        if certificate.agrees(given, one.conventions()):
            return one
        if certificate.mistake(given, one.conventions()) is not None:
            mistaken.append(one)
    return mistaken[0] if mistaken else text


def _given(text: AttentionText, name: str, value: str) -> Any:
    """Return the construction with one argument more."""
    call = expression_of(text.made.text)
    if not isinstance(call, ast.Call):
        return text.made
    words = [*call.keywords, ast.keyword(name, expression_of(value))]
    return replace(text.made, text=ast.unparse(ast.Call(call.func, call.args, words)))


def _requests(text: AttentionText, member: Member) -> Iterator[Request]:
    """Yield calls with the option, and without: beside it all has to stay as it was."""
    plain = request(text, SIZES, 2, 4, 7, {})
    shared = member.asked.get("num_kv_heads")
    rows = {n: w[: shared * SIZES[2]] for n, w in plain.weights.items() if n[0] in "kv"} if shared else {}
    weights: dict[str, Tensor] = {**plain.weights, **rows}
    yield replace(plain, config=replace(plain.config, **member.asked), weights=weights)
    yield plain
