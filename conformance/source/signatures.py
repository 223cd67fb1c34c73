"""The parameters with which something foreign is called."""

import inspect
from typing import Any


def parameters_of(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a class or a function, or [] where Python knows none, as of a subclass of dict."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return []
