"""Whether a file's words say that its window counts the query's own key: i - w + 1 to i, or w keys in all."""

import re

from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file, sentences

_WINDOW = r"\bwindow|\bsliding|ventana|fenster|finestra|fen[eê]tre|janela"
_OWN = (  # what any of these is said of counts the query's own key
    r"\bi ?- ?\w+ ?\+ ?1\b|\bi ?- ?\( ?\w+ ?- ?1 ?\)|"
    r"\b(itself|self|own( \w+)?|(present|current|newest) \w+) (is )?(included|among|counted)|"
    r"\bincl(\.|uding|udes)? (it)?self|"
    r"\bitself and (to )?(the|its) `*(\w+ ?- ?1|other)|\bown (key|token|position) among|"
    r"\b`?[wnk]`? ((keys|tokens|positions) )?(in (total|all)|en total|insgesamt)\b"
)
_NOT = r"\b(not|never|nor|without|beside|besides|plus|excluded|excluding|sin|ohne|sans|nicht)\b|n't\b"


def counts_own_key(place: Place) -> bool:
    """Return whether a sentence on the window says so, and none on it says what may be the contrary."""
    told = [s for s in sentences(said_in_file(place.module)) if re.search(_WINDOW, s, re.IGNORECASE)]
    said = [s for s in told if re.search(_OWN, s, re.IGNORECASE)]
    return bool(said) and not any(re.search(_NOT, s, re.IGNORECASE) for s in said)
