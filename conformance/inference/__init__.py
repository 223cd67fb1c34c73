"""Judge a file that knows nothing of us: find its components, and how each is built, called and given weights."""

from attnconf.conformance.door import Implementation
from attnconf.conformance.loading import Unjudgeable
from attnconf.conformance.sources import Source


def infer(source: Source, label: str, chosen: str | None, component: str | None) -> list[Implementation | Unjudgeable]:
    """Return an implementation for what ``source`` holds, or why there is none; ``label`` is what the user typed.

    ``chosen`` is the class or function that was asked for, ``component`` the chapter to judge it by.
    """
    return [Unjudgeable(label, str(source.path or source.module.__name__), "nothing in it looks like a component")]
