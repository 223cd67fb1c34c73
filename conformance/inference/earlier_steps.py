"""What a tokenizer does to a text before it looks words up: small letters, punctuation split off its words.

Such a step is one of its own (TOK-ASIS-1, TOK-SPLIT-2) where learning the vocabulary makes it as encoding does.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from attnconf.adapters.contract import TokenizerConfig
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.token_text import REFUSALS, TokenText
from attnconf.conformance.inference.trial import gap, reply

LEARNT_FROM = "Qop,xyz Qop,xyz"  # learnt in small letters and without punctuation it is qop , xyz
KNOWN = ("<unk>", "<pad>", "<s>", "</s>", "new", "low", ",", "er")  # what stands for an unknown word is at the front
ALIKE = {"small": ("Low er", "low er"), "split": ("low,er", "low , er")}


def learnt_steps(place: Place, built: str, methods: Sequence[str], filling: str) -> tuple[str, ...]:
    """Return the steps that what is in a learnt vocabulary shows.

    ``built``: what makes the object, of ``filling`` if it learns then; ``methods``: by which it learns later, "" none.
    """
    found: set[str] = set()
    made = built.replace(repr(filling), "GIVEN").replace(repr(filling.split()), "GIVEN")
    for learn, given in product(methods, (LEARNT_FROM, [LEARNT_FROM])):
        words = _learnt(place, made, learn, given)
        if any("q" in w for w in words) and not any("Q" in w for w in words):
            found.add("small")
        if "," in words and {"qop", "Qop"} & words:
            found.add("split")
    return tuple(step for step in REFUSALS if step in found)


def _learnt(place: Place, built: str, learn: str, given: Sequence[str]) -> set[str]:
    """Return the strings in the attributes of what has learnt from ``given``; none where that fails."""
    space: dict[str, Any] = {"theirs": place.module, "GIVEN": given, "config": None}
    try:
        space["made"] = attempt(lambda: eval(built, space))
        if learn:
            attempt(lambda: eval(f"made.{learn}(GIVEN)", space))
    except Failed:
        return set()
    return set(_words(space["made"]))


def attributes_of(made: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object, then those of objects of its own module that it holds: ``part.name``."""
    own = dict(getattr(made, "__dict__", {}))
    yield from own.items()
    for name, part in own.items():
        if type(part).__module__ == type(made).__module__:
            yield from ((f"{name}.{inner}", x) for inner, x in getattr(part, "__dict__", {}).items())


def _words(made: Any) -> Iterator[str]:
    for _, x in attributes_of(made):
        if isinstance(x, dict | list | tuple):
            yield from (w for w in x if isinstance(w, str))


def with_steps(text: TokenText, implementation: Callable[[TokenText], Any]) -> TokenText:
    """Return the text with those of its steps that it makes in encoding, too: the reading refuses what they change."""
    if not text.encode or text.kind != "word":
        return text
    config = TokenizerConfig("word", KNOWN, unknown="<unk>" if text.own_unknown else None)
    plain = implementation(text)
    kept = []
    for step in text.learnt:
        answers = [reply(plain, Request("tokenizer", config, {}, {"text": words}, ())) for words in ALIKE[step]]
        if not gap(answers[0], answers[1]):
            kept.append(step)
    return text.but(steps=tuple(kept))
