"""How much of each head turns: an argument or entry that says it, as a number of features or a fraction of the head.

A class is built such that all of it turns, which is what the rest is found with; then it is asked to turn a part.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate
from attnconf.conformance.inference.words.vocabulary import meanings

GIVEN = ("rotary-part", "given")
SIZES, PART = (32, 4, 8), 4  # two pairs turn, so that their exponents tell by what they are divided
FEATURES = "(config.rotary_dim or config.head_dim)"
ALL = {"rotary_dim": ("config.head_dim", FEATURES), "fraction": ("1.0", f"({FEATURES} / config.head_dim)")}


def with_part_turned(place: Place, text: AttentionText) -> AttentionText:
    """Return the text that turns a part of each head where it is asked to, if what comes of it is known.

    Where it is neither the formula nor a known mistake in it, a word on it.
    """
    if text.inside.get("positions-inside") != "rotary" or text.powers:
        return text
    for name, one in _readings(text):
        certificate = Certificate(COMPONENT, list(_requests(one)))
        given = certificate.replies(one.implementation(place))
        known = certificate.agrees(given, one.conventions())
        if known or certificate.mistake(given, one.conventions()) is not None:
            return one
        words = f"with the argument `{name}` a part of each head turns in a way that is not known"
        return text.but(unknown=(*text.unknown, words))
    return text


def _readings(text: AttentionText) -> Iterator[tuple[str, AttentionText]]:
    """Yield the arguments and entries that say how much turns, and the text that hands on what is asked for."""
    for meaning, (whole, part) in ALL.items():
        pattern = rf"""([(,{{ ]["']?(\w+)["']?(?:=|: )){re.escape(whole)}(?=[,)}}])"""
        for found in re.finditer(pattern, text.made.text):
            if meaning in meanings(found[2]) or meaning == "fraction":
                made = text.made.text[: found.end(1)] + part + text.made.text[found.end() :]
                yield found[2], text.but(made=replace(text.made, text=made), family=(*text.family, GIVEN))


def _requests(text: AttentionText) -> Iterator[Request]:
    plain = request(text, SIZES, 2, 6, 6, {})
    yield replace(plain, config=replace(plain.config, rotary_dim=PART))
    yield plain
