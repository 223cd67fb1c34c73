"""What is said where a call gives nothing, and words for foreign objects."""

from typing import Any

from attnconf.conformance.worker.watching import Recorded

UNSUPPORTED = "unsupported"  # the reason of a refusal that is an adapter's NotImplementedError


class Refused(Exception):
    """A call that gives nothing, with one of the reasons of the results schema, or UNSUPPORTED."""

    def __init__(self, reason: str, message: str, argument: str = ""):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.argument = argument  # words on an argument that does not do what its name promises
        self.at = ""  # the line of the implementation that raised: "homework.py:12", or ""
        self.seen: Recorded = {}  # the steps of a call that was watched
        self.meant = False  # the implementation's own code raised it, by ``raise`` or ``assert``


def kind_of(x: Any) -> str:
    """Return the kind of an object in words: ``a list``, ``a torch.Tensor of shape (2, 3)``, ``None``."""
    if x is None:
        return "None"
    shape = f" of shape {tuple(x.shape)}" if isinstance(getattr(x, "shape", None), tuple) else ""
    name = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}{shape}"
