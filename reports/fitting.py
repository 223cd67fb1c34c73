"""Parts of a report that fit into a number of bytes together: the longest are cut, and say so."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

Titled = tuple[str, list[str]]  # a part: its title, and the lines under it
AROUND = 80  # bytes around the lines of a part, at most: what folds it


def fitted(parts: Sequence[Titled], most: int) -> list[Titled]:
    """Return the parts, of which those that are too long are cut to one length, so that all have ``most`` bytes."""
    longest = _longest([_weight(lines) for _, lines in parts], most)
    return [(title, lines if _weight(lines) <= longest else _cut(lines, longest)) for title, lines in parts]


def _longest(weights: list[int], most: int) -> int:
    """Return the weight to which parts are cut: what the shorter ones leave, shared by the longer ones."""
    left = most
    for n, weight in enumerate(sorted(weights)):
        share = left // (len(weights) - n)
        if weight > share:
            return share
        left -= weight
    return most


def _weight(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines) + AROUND


def _cut(lines: list[str], most: int) -> list[str]:
    """Return the first lines of a part, without half a block of code, and how many are left out."""
    reached = accumulate(len(line.encode()) + 1 for line in lines)
    kept = lines[: bisect(list(reached), most - 2 * AROUND)]
    fences = [number for number, line in enumerate(kept) if line.startswith("```")]
    kept = kept[: fences[-1]] if len(fences) % 2 else kept
    return [*kept, "", f"And {len(lines) - len(kept)} more lines, which the HTML report has."]
