"""The order of features: pairs side by side, or halves one after the other."""

from collections.abc import Sequence


def side_by_side(layout: str, width: int) -> list[int]:
    """Return the interleaved feature at each place of another layout: "halves", width 4 -> [0, 2, 1, 3]."""
    first, second = list(range(0, width, 2)), list(range(1, width, 2))
    if layout == "interleaved":
        return list(range(width))
    return [*second, *first] if layout == "halves-cos-first" else [*first, *second]


def inverse(order: Sequence[int]) -> list[int]:
    """Return the order that undoes another."""
    return sorted(range(len(order)), key=order.__getitem__)
