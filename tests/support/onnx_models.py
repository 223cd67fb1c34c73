"""Files of ONNX for tests: an operator by itself, or among others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, save

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
SINCE = {"Attention": 23, "RotaryEmbedding": 23, "LayerNormalization": 17, "RMSNormalization": 23, "Gelu": 20}
# (name, type, sizes; None: any)
QKV = [(name, FLOAT, [None] * 4) for name in ("query", "key", "value")]
MASK = ("mask", FLOAT, [None] * 4)
X, SCALE, BIAS = (("x", FLOAT, None), ("scale", FLOAT, None), ("bias", FLOAT, None))
HEADS, PLACES = ("x", FLOAT, [None] * 4), ("position_ids", INT64, [None] * 2)
COS, SIN = ("cos_cache", FLOAT, [None] * 2), ("sin_cache", FLOAT, [None] * 2)

Kind = tuple[str, int, Sequence[int | None] | None]


def model(
    nodes: Sequence[Any], inputs: Sequence[Kind], outputs: Sequence[str], opset: int, **kept: np.ndarray
) -> ModelProto:
    """Return a model; ``kept``: its initializers by name."""
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(o, FLOAT, None) for o in outputs],
        [numpy_helper.from_array(x, name) for name, x in kept.items()],
    )  # fmt: skip
    domains = sorted({node.domain for node in nodes} - {""})
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def alone(operator: str, *inputs: Kind, outputs: Sequence[str] = ("out",), **attributes: Any) -> ModelProto:
    """Return a model with one operator, in the first opset that has it."""
    node = helper.make_node(operator, [i[0] for i in inputs], outputs, **attributes)
    return model([node], inputs, [o for o in outputs if o], SINCE[operator])


def stored(folder: Path, made: ModelProto) -> str:
    """Return the path of a file with the model."""
    path = folder / "model.onnx"
    save(made, path)
    return str(path)


def tables(base: float, width: int = 8, rows: int = 64) -> dict[str, np.ndarray]:
    """Return the cosines and sines of a rotation of ``width`` features."""
    angles = np.arange(rows)[:, None] * base ** (-np.arange(0, width, 2) / width)
    return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
