"""Flags that say that attention is a decoder's: some make it causal, others keep keys for later calls, and no more."""

import re
from dataclasses import replace
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.inference.texts.attention_requests import request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import reply, same
from attnconf.conformance.source.source_text import code_reached

FLAG = r"(?:(?<=\()|, )(?:is_)?decoder=config\.causal\b"
ORDERS = r"causal|autoregressive|triu|tril|future|later"  # of code that hides what is later


def without_idle(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text without a flag of this name that changes no output, where the code knows nothing of order."""
    if not re.search(FLAG, text.made.text) or re.search(ORDERS, code_reached(place.thing), re.IGNORECASE):
        return text
    made = text.implementation(place)
    on, off = (reply(made, request(text, sizes[0], 2, 6, 6, {}, causal=causal)) for causal in (True, False))
    if isinstance(on, Failure) or not same(on, off):
        return text
    bare = replace(text.made, text=re.sub(FLAG, "", text.made.text), given=text.made.given - {"causal"})
    return text.but(made=bare)  # what is left alone is told of all flags
