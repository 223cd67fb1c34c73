"""What a binding refuses although the file takes it: tried once without the refusal."""

from dataclasses import replace

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Bound
from attnconf.conformance.inference.trial import reply, why


def with_guard_tried(bound: Bound, words: str, asked: Request, shown: str) -> Bound:
    """Return the binding such that what it refuses in these words fails, where the file's own code breaks in it.

    What the code itself refuses, by ``raise`` or ``assert``, is not offered. ``shown``: what was asked, for people.
    """
    guard = f'raise NotImplementedError("{words}")'
    free = replace(bound.draft, body=bound.draft.body.replace(guard, "pass"))
    given = reply(free.implementation(bound.place.module), asked)
    if not isinstance(given, Failure) or given.meant or given.reason in ("unsupported", "given up"):
        return bound
    broken = f"{shown}: {why(given)}"
    body = bound.draft.body.replace(guard, f"raise BrokenArgument({broken!r})")
    return replace(bound, draft=replace(bound.draft, body=body), told=(*bound.told, f"option       {broken}"))
