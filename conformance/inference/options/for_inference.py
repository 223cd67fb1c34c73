"""Calls that a decorator runs without gradients, and that are for inference: no gradients are asked for.

They are so by their words, or where they write keys and values into room that they keep for the next call. Else it is a
mistake of what is trained, and so is no_grad without such room, and whatever is cut off within a call.
"""

import inspect
import re

from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.claims import said_in_file

DECORATED = r"\s*@(?:torch\.)?(inference_mode|no_grad)\b"
WRITTEN = r"\bself\.\w*cache\w*\[[^\n]*\]\s*=(?!=)"
SPOKEN = r"\b(inference|serving|server|deployment|decoding)\b(?!_mode)"


def without_gradients(bound: Bound) -> Bound:
    """Return the binding such that no gradients are asked for, where the file says that there are to be none."""
    try:
        source = inspect.getsource(inspect.unwrap(call_of(bound.place.thing)))
    except (OSError, TypeError):
        return bound
    decorated = re.match(DECORATED, source)
    if not decorated:
        return bound
    said = re.search(SPOKEN, " ".join(said_in_file(bound.place.module)), re.IGNORECASE)
    if decorated[1] == "inference_mode" and said:
        why = "said to be for inference"
    elif re.search(WRITTEN, source):
        why = "a cache that each call writes into"
    else:
        return bound
    return bound.called_through("untrained(call, weights)", f"gradients    none: @{decorated[1]}, and {why}")
