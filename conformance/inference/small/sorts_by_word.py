"""Networks of several sorts, with a gate and without, of which a word is told: each is one of the textbook's."""

import re
from collections.abc import Callable, Iterator

from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.options.other_settings import WORDS
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.proving import Proof, Prover
from attnconf.conformance.inference.words.looked_up_words import words_for

Trials = Callable[[Prover[Text], str], Proof[Text] | None]  # of all that is built with an argument


def unlike(place: Place, text: Text, trials: Trials) -> Iterator[str]:
    """Yield words on each other sort that a known word builds, and that runs, and is none of the textbook's."""
    for name, now in re.findall(r"\b(\w+)='(\w+)'", text.made.text):
        for word in words_for(place.thing, name):
            if _choices(word) and _has_gate(word) != _has_gate(now):
                prover = Prover[Text](place)
                proof = trials(prover, f"{name}={word!r}")
                right = proof is not None and proof.hypothesis.declares["activation"] in _choices(word)
                if prover.ran and not right:
                    yield f"where `{name}` is {word!r}, it computes something else than a network of that name"


def _choices(word: str) -> tuple[str, ...]:
    """Return the activations that a word may mean; none where it is not known."""
    plain = word.lower().replace("-", "_")
    return next((known for pattern, known in WORDS["activation"].items() if re.fullmatch(pattern, plain)), ())


def _has_gate(word: str) -> bool:
    return word.lower().endswith("glu")
