"""The parameters of a foreign class or function."""

import inspect
from typing import Any


def parameters_of(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a class or function; [] where Python knows none (a subclass of dict)."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return []
