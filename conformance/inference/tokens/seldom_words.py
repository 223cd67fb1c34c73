"""Words that are seen as often as a vocabulary asks for: they are in it, and those that are seen once more, too."""

import re
from collections.abc import Iterator

from attnconf.conformance.inference.tokens.taught import learnt_from
from attnconf.conformance.inference.tokens.token_text import TokenText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of

LEAST = (
    r"min_?(word_?)?(freq(uency|s)?|counts?|occur\w*|times|seen)|(freq(uency)?|counts?|occur\w*)_?(threshold|min\w*)"
)
MORE = r"(?i)\b(more (often )?than|over|above|exceed\w*|greater than)\b|>(?!=)"  # what may be asked for, in words
MOST = 5  # times
ENOUGH, OFTEN = "qop", "xyz"


def left_out(place: Place, text: TokenText, filling: str) -> Iterator[str]:
    """Yield a word on an option for the least count by which a word that is seen as often is left out.

    ``filling``: what the binding makes the vocabulary of, in place of which another text comes.
    """
    built, learn = text.own
    method = getattr(place.thing, learn, None) if learn else None
    for p in [*parameters_of(place.thing), *(parameters_of(method) if method else ())] if built else ():
        least = p.default
        if not re.fullmatch(LEAST, snake(p.name)) or type(least) is not int or not 0 < least <= MOST:
            continue
        if any(re.search(MORE, line) and p.name in line for line in said_in_file(place.module)):
            continue
        words = [ENOUGH] * least + [OFTEN] * (least + 1)
        for given in (" ".join(words), [" ".join(words)], words, [words]):
            known = learnt_from(place, built, learn, filling, given)
            if OFTEN in known and ENOUGH not in known:
                times = "once" if least == 1 else f"{least} times"
                yield f"where `{p.name}` is {least}, a word that is seen {times} is left out"
                return
