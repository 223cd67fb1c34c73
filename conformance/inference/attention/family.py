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

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, POWERS, request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, why
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import expression_of

SIZES = (24, 6, 4)  # three heads of queries share each of two heads of keys: side by side is not in turn
SHARED = 2
KEPT = "config.num_kv_heads or config.num_heads"  # what says how many heads keys and values have
GROUPED = ("kv-heads", "grouped")
FEWER = "fewer heads of keys and values than of queries"
OF_KEYS = r"kv|key|rep|per|query"  # such names say that heads of keys are shared; groups may be of something else


@dataclass(frozen=True)
class Member:
    """An option of the family: what it is called, what it may be handed, and what declares it."""

    names: str
    values: tuple[str, ...]
    declares: tuple[str, str]
    asked: Mapping[str, Any]


MEMBERS = (
    Member(
        r"((att(entio)?n?|scores?)_?)?((logits?_?)?soft_?cap(ping)?|logits?_?cap)(_value)?|tope|plafond|deckel(ung)?|limitador",
        ("config.softcap",),
        ("score-cap", "given"),
        {"softcap": 1.5},
    ),
    Member(
        r"(qk_?|softmax_?|att(entio)?n_?|score_?)?scal(e|ing)(_?value)?|escala|skala|skalierung|echelle|scala|olcek|masshtab",
        ("config.scale",),
        ("score-scale", "given"),
        {"scale": 0.3},
    ),
)


def with_family(place: Place, text: AttentionText, certified: str | None) -> AttentionText:
    """Return the text with the options of its constructor that are the family's, each judged as what its name says."""
    if certified != "reference" or not text.made.given >= {"heads"}:
        return _alike(text)
    text = _with_shared(place, text) if KEPT in text.made.text else text
    if not inspect.isclass(place.thing) or text.heads_last:
        return text
    for p in parameters_of(place.thing):
        for member in MEMBERS:
            if _offers(p, member) and not re.search(rf"\b{p.name}=", text.made.text):
                text = _with(place, text, p.name, member)
    return text


def _alike(text: AttentionText) -> AttentionText:
    """Return the text that has as many heads of keys and values as of queries, and is asked for no others."""
    made = text.made.text.replace(f"config.num_heads // ({KEPT})", "1").replace(KEPT, "config.num_heads")
    return text.but(made=replace(text.made, text=made))


def _with_shared(place: Place, text: AttentionText) -> AttentionText:
    """Return the text with fewer heads of keys and values than of queries, as far as it can be built and called so.

    What comes of it is judged, also where nobody knows what it is; but a number of groups may be of something else.
    """
    name = kept_by(text.made.text)
    one = text.but(family=(*text.family, GROUPED), state=tuple(map(_of_kept, text.state)))
    certificate = Certificate(COMPONENT, [*_requests(one, {"num_kv_heads": SHARED})])
    given = certificate.replies(one.implementation(place))
    failure = next((each for each in given if isinstance(each, Failure)), None)
    known = failure is None and (
        certificate.agrees(given, one.conventions()) or certificate.mistake(given, one.conventions()) is not None
    )
    if known or (failure is None and re.search(OF_KEYS, snake(name))):
        return one
    if failure is not None and not failure.meant and re.search(OF_KEYS, snake(name)):
        return _alike(text).but(unshared=f"the argument `{name}`: with {FEWER} it raises: {why(failure)}")
    what = f"{name}: {FEWER} are not judged" + (f": {why(failure)}" if failure else "")
    return _alike(text).but(left_alone=(*text.left_alone, what))


def _of_kept(entry: str) -> str:
    """Return an entry whose rows are told apart by heads, by those of keys and values where it holds nothing else."""
    roles = set(re.findall(r"""weights\["(\w+)\.""", entry))
    return entry.replace("config.num_heads", f"({KEPT})") if roles and roles <= {"k", "v"} else entry


def kept_by(made: str, kept: str = KEPT) -> str:
    """Return what the argument or entry is called that says how many heads keys and values have."""
    found = re.search(rf"""\b(\w+)(?:=|["']: )(?:config\.num_heads // \()?{re.escape(kept)}""", made)
    return found[1] if found else ""


def as_many(made: str) -> tuple[str, ...]:
    """Return a line on the number of heads that keys and values have, where a construction gives them all of them."""
    given = re.findall(r"""\b(\w+)(?:=|["']: )config\.num_heads\b""", made)
    return tuple(f"{name}: {FEWER} are not judged" for name in given if "kv_heads" in meanings(name))[:1]


def _offers(p: inspect.Parameter, member: Member) -> bool:
    """Return whether a parameter is off by default: what is always there has been bound already, or is no option."""
    off = p.default is None or (type(p.default) in (int, float) and p.default == 0)
    return off and re.fullmatch(member.names, snake(p.name)) is not None


def _with(place: Place, text: AttentionText, name: str, member: Member) -> AttentionText:
    """Return the text that hands an option on, if what comes of it is known: as the textbook has it, else a mistake."""
    mistaken: list[AttentionText] = []
    for value in member.values:
        one = text.but(made=_given(text, name, value), family=(*text.family, member.declares))
        certificate = Certificate(COMPONENT, [*_requests(one, member.asked)])
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


def _requests(text: AttentionText, asked: Mapping[str, Any]) -> Iterator[Request]:
    """Yield calls with the option, and without: beside it all has to stay as it was."""
    size = POWERS[0] if text.powers else SIZES
    plain = request(text, size, 2, 4, 7, {})
    shared = asked.get("num_kv_heads")
    rows = {n: w[: shared * size[2]] for n, w in plain.weights.items() if n[0] in "kv"} if shared else {}
    weights: dict[str, Tensor] = {**plain.weights, **rows}
    yield replace(plain, config=replace(plain.config, **asked), weights=weights)
    yield plain
