"""What has been learnt: where an object keeps its merges, found by what they are, and how they are to be read."""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from attnconf.adapters.generated.tokens import pairs
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.trials.probing import attempt
from attnconf.conformance.worker.bodies import names
from attnconf.reference.tokenizer import END

# What symbols may be, and what an adapter declares of them.
READINGS: Mapping[str, Mapping[str, str]] = {
    "attached": {"word-end": "attached"},
    "separate": {"word-end": "separate"},
    "none": {"word-end": "none"},
    "bytes": {"word-end": "none", "symbols": "bytes"},
}


def reading_of(declares: Mapping[str, str]) -> str:
    """Return the reading for which these conventions are declared."""
    return "bytes" if declares.get("symbols") == "bytes" else declares["word-end"]


def learnt(module: ModuleType, before: Sequence[str], request: Request) -> dict[str, Any]:
    """Return the names that the statements of a trainer leave, run on one request. Raises Failed."""
    space = names(module) | {"words": list(request.inputs["words"]), "config": request.config}
    attempt(lambda: exec("\n".join(before), space))
    return space


def found_in(module: ModuleType, before: Sequence[str], request: Request) -> list[tuple[str, bool, str]]:
    """Return the expressions that are merges after learning, whether they are of numbers, and their mark.

    The mark is "" where it is ours, or where there is none. Raises Failed.
    """
    space, letters = learnt(module, before, request), "".join(request.inputs["words"])
    there = [(text, x, kind) for text, x in _places(space) if (kind := of_merges(x))]
    return [(text, kind == "numbers", mark_in(x, letters) if kind == "strings" else "") for text, x, kind in there]


def mark_in(merges: Any, letters: str) -> str:
    """Return what stands at the end of words in merges of strings, where it is another mark than ours."""
    ends = {part.lstrip(letters) for pair in pairs(merges) for part in pair} - {""}
    mark = ends.pop() if len(ends) == 1 else END
    return "" if mark == END else mark


def _places(space: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what has been returned, and what the object keeps."""
    result = space.get("result")
    yield "result", result
    if isinstance(result, tuple | list) and 0 < len(result) <= 3:
        yield from ((f"result[{i}]", x) for i, x in enumerate(result))
    if "made" in space:
        kept = getattr(space["made"], "__dict__", {})
        yield from ((f"made.{name}", x) for name, x in kept.items())


def of_merges(x: Any) -> str:
    """Return what merges are pairs of, "strings" or "numbers"; nothing for what are no merges."""
    if not isinstance(x, list | tuple | dict) or not x:
        return ""
    kinds = {_of_merge(each) for each in x}
    return kinds.pop() if len(kinds) == 1 else ""


def _of_merge(x: Any) -> str:
    if isinstance(x, list | tuple) and len(x) == 2 and isinstance(x[0], list | tuple):  # with its count, id or rank
        x = x[0]
    if isinstance(x, str) and len(x.split(" ")) == 2:
        return "strings"
    if not isinstance(x, list | tuple) or len(x) != 2:
        return ""
    if all(isinstance(part, str) for part in x):
        return "strings"
    return "numbers" if all(isinstance(part, int) for part in x) else ""
