"""The ids, text or merges in a reply's numbers, as ``worker.written`` writes them."""

from torch import Tensor

from attnconf.conformance.worker.written import END, HALF


def ids(out: Tensor) -> list[int]:
    """Return the ids in a reply's numbers."""
    return [int(x) for x in out.tolist()]


def text(out: Tensor) -> str:
    """Return the text in a reply's numbers."""
    return "".join(chr(x) for x in ids(out))


def merges(out: Tensor) -> list[tuple[str, str]]:
    """Return the merges in a reply's numbers."""
    found: list[tuple[str, str]] = []
    parts = [""]
    for x in ids(out):
        if x == END:
            found.append((parts[0], parts[1]))
            parts = [""]
        elif x == HALF:
            parts.append("")
        else:
            parts[-1] += chr(x)
    return found
