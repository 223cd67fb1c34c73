"""What the words of a layer promise that experiment cannot tell from a choice: its activation, and its inner norms."""

import re

from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_of, sentences

_SQUARED = (
    r"\bsquared?[- ]re_?lu\b|\bre_?lu[- ]?squared\b|\bre_?lu ?(2|²)|"
    r"\bre_?lu ?\([^()]*(\([^()]*\))?[^()]*\) ?(\^|\*\*) ?2"
)
_HEADS = r"\b(each|every|single|per)[- ]head\b|\bover (the )?`?head_?dim\b"
_NORMED = r"\bnorm\w*|\brms[- ]?norm\w*"
_INNER = r"\bq(uer(y|ies))?\b|\bq_?k\b|\bq/k\b"
_NOT_SQUARED = r"(\b(not|no|never|instead of|rather than|without|unlike)\b|n't\b)[^.;,(]{0,24}(squared?|re_?lu)"
_NOT_EACH = r"\b(not|never|no|instead|unlike|without|rather|whole|all heads|paper|original)\b|n't\b"


def contradicted(place: Place, text: LayerText) -> tuple[str, ...]:
    """Return a word on each choice of a layer of which its own words say that it is another."""
    found = []
    if text.declares.get("activation") == "relu" and _says(place, _NOT_SQUARED, _SQUARED):
        found.append("the activation is ReLU, and its words say that it is squared")
    if text.declares.get("qk-norm-over") == "width" and _says(place, _NOT_EACH, _HEADS, _NORMED, _INNER):
        found.append("queries and keys are normalised over all heads together, and its words say each head by itself")
    return tuple(found)


def _says(place: Place, but: str, *patterns: str) -> bool:
    """Return whether a sentence of a layer's own words has all patterns; not where one has what may turn them round."""
    told = [s for s in sentences(said_of(place.thing)) if all(re.search(p, s, re.IGNORECASE) for p in patterns)]
    return bool(told) and not any(re.search(but, s, re.IGNORECASE) for s in told)
