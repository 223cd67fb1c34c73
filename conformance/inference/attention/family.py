"""What attention has besides: options of a constructor by which it says that it is more than the attention of 2017.

An option whose name says which (fewer heads of keys, a cap, a scale) is asked for with that meaning, be it an argument
or an entry of a configuration. Where it computes what the textbook computes, or what a known mistake in it does, it is
declared and judged as the rest is.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.option_spots import (
    Given,
    Option,
    given_options,
    options_of,
    with_options_off,
    with_value,
)
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, POWERS, request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, why
from attnconf.conformance.inference.words.vocabulary import meanings, snake

SIZES = (24, 6, 4)  # three heads of queries share each of two heads of keys: side by side is not in turn
SHARED = 2
KEPT = "config.num_kv_heads or config.num_heads"  # what says how many heads keys and values have
GROUPED = ("kv-heads", "grouped")
FEWER = "fewer heads of keys and values than of queries"
OF_KEYS = r"kv|key|rep|per|query"  # such names say that heads of keys are shared; groups may be of something else

NO_CAP = "1000000.0"  # as Python writes it; where code divides by a cap whatever it is
CAPS = (
    r"((att(entio)?n?|scores?)_?)?((logits?_?)?soft_?cap(ping)?|logits?_?cap)(_value)?|"
    r"tope|plafond|deckel(ung)?|limitador"
)
SCALES = (
    r"(qk_?|softmax_?|att(entio)?n_?|score_?)?scal(e|ing)(_?value)?|"
    r"escala|skala|skalierung|echelle|scala|olcek|masshtab"
)
POWER = r"((query|q|score|attn|attention)_?)?(pre_?attn_?)?scalar|(escalar|skalar|scalaire)(_?\w+)?"  # scale⁻²
MEMBERS = (
    Option(CAPS, "softcap", ("score-cap", "given"), ("config.softcap",), ("None", NO_CAP), 1.5),
    Option(
        f"{SCALES}|{POWER}", "scale", ("score-scale", "given"), ("config.scale", "config.scale ** -2"),
        ("None", "config.head_dim ** -0.5", "float(config.head_dim)"), 0.3,
    ),
)  # fmt: skip


def quiet(place: Place, made: Construction) -> Iterator[Construction]:
    """Yield a construction with caps and scales that are set by default such that nothing is, and as it is.

    A scale that is a default of the class itself is what the class computes.
    """
    found = [
        (spot, option)
        for spot, option in options_of(place, made, MEMBERS)
        if spot.passes or spot.owner or option.entry != "scale"
    ]
    loud = any(not spot.passes for spot, _ in found)
    yield from with_options_off(made, found if loud else [])


def with_family(place: Place, text: AttentionText, certified: str | None) -> AttentionText:
    """Return the text with the options of its constructor that are the family's, each judged as what its name says."""
    if certified != "reference" or not text.made.given >= {"heads"}:
        return _alike(text)
    text = _with_shared(place, text) if KEPT in text.made.text else text
    if not inspect.isclass(place.thing) or text.heads_last:
        return text
    there = list(given_options(text.made, MEMBERS))
    for given in there:
        text = _with(place, text, given) or _never_asked(text, given)
        if given.off == NO_CAP:
            words = f"{given.name}: {NO_CAP} stands for none, which half precision shows"
            text = text.but(left_alone=(*text.left_alone, words))
    asked = {given.name for given in there}
    for spot, member in options_of(place, text.made, MEMBERS):
        if spot.passes and spot.name not in asked and not re.search(rf"\b{spot.name}=", text.made.text):
            text = _with(place, text, Given(spot.name, member, repr(spot.default)), spot.owner) or text
    return text


def _never_asked(text: AttentionText, given: Given) -> AttentionText:
    """Return the text that lets an option be nothing, with words on it."""
    words = f"{given.name}: what it does is not known"
    return text.but(made=with_value(text.made, given.name, given.off), left_alone=(*text.left_alone, words))


def _alike(text: AttentionText) -> AttentionText:
    """Return the text that has as many heads of keys and values as of queries, and is asked for no others."""
    made = text.made.text.replace(f"config.num_heads // ({KEPT})", "1").replace(KEPT, "config.num_heads")
    return text.but(made=replace(text.made, text=made))


def _with_shared(place: Place, text: AttentionText) -> AttentionText:
    """Return the text with fewer heads of keys and values than of queries, as far as it can be built and called so.

    What comes of it is judged, also where nobody knows what it is; but a number of groups may be of something else.
    """
    name = kept_by(text.made.text)
    made = _with_kept_arrays(text.made, text.state)
    one = text.but(made=made, family=(*text.family, GROUPED), state=tuple(map(_of_kept, text.state)))
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


def _with_kept_arrays(made: Construction, state: Sequence[str]) -> Construction:
    """Return a construction whose arrays for keys and values, where a function is handed them, are of kept heads."""
    rows, columns, text = f"({KEPT}) * config.head_dim", "config.embed_dim", made.text
    square = r"torch\.zeros\(config\.num_heads \* config\.head_dim, config\.embed_dim\)"
    for name, turned in re.findall(r"""^"(\w+)": weights\["[kv]\.weight"\](\.T|)$""", "\n".join(state), re.MULTILINE):
        shape = f"{columns}, {rows}" if turned else f"{rows}, {columns}"
        text = re.sub(rf"\b{name}={square}", f"{name}=torch.zeros({shape})", text)
    return replace(made, text=text)


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


def _with(place: Place, text: AttentionText, given: Given, owner: str = "") -> AttentionText | None:
    """Return the text that hands an option on, if what comes of it is known: as the textbook has it, else a mistake."""
    mistaken: list[AttentionText] = []
    for value in given.option.values:
        written = value if given.off == "None" and value == f"config.{given.option.entry}" else given.text(value)
        made = with_value(text.made, given.name, written, owner)
        one = text.but(made=made, family=(*text.family, given.option.declares))
        certificate = Certificate(COMPONENT, [*_requests(one, {given.option.entry: given.option.asked})])
        replies = certificate.replies(one.implementation(place))
        if certificate.agrees(replies, one.conventions()):
            return one
        if certificate.mistake(replies, one.conventions()) is not None:
            mistaken.append(one)
    return mistaken[0] if mistaken else None


def _requests(text: AttentionText, asked: Mapping[str, Any]) -> Iterator[Request]:
    """Yield calls with the option, and without: beside it all has to stay as it was."""
    size = POWERS[0] if text.powers else SIZES
    plain = request(text, size, 2, 4, 7, {})
    shared = asked.get("num_kv_heads")
    rows = {n: w[: shared * size[2]] for n, w in plain.weights.items() if n[0] in "kv"} if shared else {}
    weights: dict[str, Tensor] = {**plain.weights, **rows}
    yield replace(plain, config=replace(plain.config, **asked), weights=weights)
    yield plain
