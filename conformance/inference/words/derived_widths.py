"""How many hidden features a network has whose constructor derives them: read off what is built in several widths."""

from collections.abc import Callable

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.requirement import hidden_of

Widths = Callable[[int], set[int]]  # of a width of the model: all sizes of the parameters that are built for it
THIRDS = "8/3"  # two thirds of four times, as of a network with a gate
OTHERS = (4, 5)  # widths in which a rounded number of features is not that of another rule
BLOCKS = ("24", "96")  # widths whose eight thirds are whole blocks of 64, or of 256


def derived(widths: Widths, embed: int) -> tuple[str, str]:
    """Return the hidden features for each feature, and the step of the model's widths; "free" where nothing tells.

    Where features are rounded to whole blocks, up or down, they are eight thirds in widths of so many steps alone: in
    a narrow model there may be no hidden feature at all.
    """
    there = widths(embed)
    if ratio := _whole(there - {embed}, embed):
        return ratio, "free"
    for step in ("free", *BLOCKS):
        tried = (embed, *OTHERS) if step == "free" else tuple(n * int(step) for n in (1, 2, 3))
        if all(hidden_of(THIRDS, width) in widths(width) for width in tried):
            return THIRDS, step
    return "free", "free"


def _whole(there: set[int], embed: int) -> str:
    """Return a whole ratio that sizes are in, or nothing; the largest may be that of gate and up in one matrix."""
    for width in sorted(there, reverse=True):
        times, rest = divmod(width, embed)
        for ratio in (times // 2, times) if times % 2 == 0 else (times,):
            if rest == 0 and ratio > 0 and str(ratio) in CONVENTIONS["hidden-ratio"] and ratio * embed in there:
                return str(ratio)
    return ""
