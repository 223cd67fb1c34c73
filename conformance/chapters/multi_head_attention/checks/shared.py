"""Checks of the chapter spec/multi_head_attention.md: what several sections use."""

from collections.abc import Iterator

from torch import Tensor

from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.request import Call

Evidence = Iterator[Measure]


def out_rows(layer: Call, rows: Tensor) -> dict[str, Tensor]:
    """Return the output projection's weights with these rows."""
    return {name: w[rows] for name, w in layer.weights.items() if name[0] == "o"}


# Two paths in float32 differ by rounding; so do gradients that float32 code sums over the whole batch.
SINGLE, SINGLE_SOURCE = 1e-5, "1e-5·max|want|: 80 roundings of float32"
