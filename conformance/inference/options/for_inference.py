"""Calls that a decorator runs in inference mode, and that are for inference by their words: no gradients are asked for.

Without such words it is a mistake of what is trained, and so are no_grad, and whatever is cut off within a call.
"""

import inspect
import re

from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.claims import said_in_file

DECORATED = r"\s*@(torch\.)?inference_mode\b"
SPOKEN = r"\b(inference|serving|server|deployment|decoding)\b(?!_mode)"


def without_gradients(bound: Bound) -> Bound:
    """Return the binding such that no gradients are asked for, where the file says that there are to be none."""
    try:
        decorated = re.match(DECORATED, inspect.getsource(inspect.unwrap(call_of(bound.place.thing))))
    except (OSError, TypeError):
        return bound
    if not decorated or not re.search(SPOKEN, " ".join(said_in_file(bound.place.module)), re.IGNORECASE):
        return bound
    return bound.called_through(
        "untrained(call, weights)", "gradients    none: @inference_mode, and said to be for inference"
    )
