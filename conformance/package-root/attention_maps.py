"""The weights of attention as maps, and maps as shades for a terminal: they are looked at rather than read."""

import math
import shutil
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.case import draw
from attnconf.conformance.engine.evidence import Unsupported
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject

TOKENS = 16  # and features of a head: some kernels take no other than a multiple of 8
ROWS = 24  # of a map in a terminal, at most
# How queries, keys and values are placed in a component, by the inputs that it declares.
THROUGH = {
    "attention": dict.fromkeys(("cross", "self", "memory"), "direct"),
    "multi_head_attention": {"cross": "heads", "self": "self", "memory": "memory"},
}
Kinds = dict[str, list[dict[str, Any]]]  # what is added to the name of a head, and the options that give it
SHADES = "░▒▓█"
NONE, NO_NUMBER = "·", "?"  # less than a hundred-thousandth of the most; NaN and infinity


def lens(component: str, implementation: Implementation) -> str:
    """Return the lens through which a component is asked."""
    return THROUGH.get(component, {}).get(implementation.declared(component).get("inputs", "cross"), "direct")


def weights(of: Subject) -> dict[str, Tensor]:
    """Return the weights of each head, (queries, keys), without a mask and causal, where there are both.

    They are the output for values that are the identity, so that nothing needs to return them. Raises Failure, and
    Unsupported where there is neither.
    """
    heads = 2 if of.offers("several-heads") else 1
    q, k = (1.5 * draw(what, 1, heads, TOKENS, TOKENS) for what in ("queries", "keys"))
    v = torch.eye(TOKENS, dtype=q.dtype).expand(1, heads, -1, -1)
    earlier = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    kinds: Kinds = {"": [{}], ", causal": [{"causal": True}, {"attn_mask": earlier}]}
    if of.choice("causality") == "always":
        del kinds[""]
    maps = _first(kinds, of, q, k, v)
    return {f"head {h}{kind}": map_ for kind, out in maps.items() for h, map_ in enumerate(out[0])}


def in_shades(names: Sequence[str], maps: Sequence[tuple[str, Tensor]], down: str, across: str) -> list[str]:
    """Return lines for a terminal: of each kind of maps (N, rows, columns) the one that differs most, side by side.

    The last of ``maps`` are the differences, the one before them the reference's. Maps that are too large are thinned.
    """
    (_, want), (_, off) = maps[-2:]
    numbers = want[want.isfinite()]
    low = min(float(numbers.min()), 0.0)
    most = float(numbers.max()) - low
    steps = (math.ceil(want.shape[-2] / ROWS), math.ceil(want.shape[-1] / (_width() // len(maps) - 1)))
    of_kind: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        of_kind.setdefault(name.partition(", ")[2], []).append(i)
    thinned = f"; one of {steps[0]} rows and of {steps[1]} columns, of differences the largest"
    least = f"no block is {low:.3g}, " if low else ""
    lines = [f"{least}a full block is {low + most:.3g}; down: {down}, across: {across}"]
    lines[0] += thinned if max(steps) > 1 else ""
    for alike in of_kind.values():
        i = max(alike, key=lambda i: float(off[i].abs().nan_to_num(math.inf).max()))
        drawn = [(says, map_[i, :: steps[0], :: steps[1]] - low) for says, map_ in maps[:-1]]
        lines += ["", *side_by_side(names[i], [*drawn, (maps[-1][0], _largest(off[i], steps))], most)]
    return [*lines, ""]


def _largest(off: Tensor, steps: tuple[int, int]) -> Tensor:
    """Return the largest of each block of differences (rows, columns), without signs."""
    return torch.nn.functional.max_pool2d(off.abs()[None], steps, ceil_mode=True)[0]


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def side_by_side(title: str, maps: Sequence[tuple[str, Tensor]], most: float) -> list[str]:
    """Return a line with what the maps are, and below it one for each of their rows: maps (rows, columns)."""
    columns = maps[0][1].shape[1]
    cell = 2 if len(maps) * (2 * columns + 1) < _width() else 1
    width = cell * columns
    blocks = [[says[:width].ljust(width), *_rows(map_, most, cell)] for says, map_ in maps]
    return [title, *("│".join(["", *line, ""]) for line in zip(*blocks, strict=True))]


def _first(kinds: Kinds, of: Subject, q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor]:
    """Return the output of each kind by the first of its options that are supported; one at least must be."""
    found, words = {}, None
    for kind, several in kinds.items():
        for options in several:
            try:
                found[kind] = of.attend(q, k, v, **options).out
                break
            except Unsupported as unsupported:
                words = unsupported
    if words is not None and not found:
        raise words
    return found


def _rows(numbers: Tensor, most: float, cell: int) -> list[str]:
    return ["".join(shade(x, most) * cell for x in row) for row in numbers.tolist()]


def shade(x: float, most: float) -> str:
    """Return the sign of a number, by its share of the most."""
    if not math.isfinite(x):
        return NO_NUMBER
    share = abs(x) / most if most else float(x != 0)
    return NONE if share < 1e-5 else SHADES[min(math.ceil(share * 4), 4) - 1]
