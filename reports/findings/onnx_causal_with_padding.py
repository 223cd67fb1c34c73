"""ONNX's reference evaluator: Attention with is_causal and a mask for all queries: each query sees the first key alone.

Requirement: MASK-AND-1
Project: onnx 1.23.2
On it: https://onnx.ai/onnx/operators/onnx__Attention.html has a mask that is broadcastable to (batch, heads, queries,
    keys), and is_causal beside it.
On it: https://github.com/onnx/onnx/pull/8068 moved the causal mask into a function that takes the number of queries
    from the mask that it is given, which has one row here; merged.
This is: a bug: with the same mask written out for each query the result is right.

Prints:

    a mask of one row: [1.0, 1.0, 1.0]
    a mask of three rows: [1.0, 1.5, 2.0]
"""

import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator


def causal(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray) -> list[float]:
    node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["out"], is_causal=1)
    given = {"q": query, "k": key, "v": value, "mask": mask}
    kinds = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("bool"): TensorProto.BOOL}
    inputs = [helper.make_tensor_value_info(name, kinds[x.dtype], x.shape) for name, x in given.items()]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "causal", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    out: list[float] = ReferenceEvaluator(model).run(None, given)[0].ravel().tolist()
    return out


zeros = np.zeros((1, 1, 3, 1), dtype=np.float32)  # all scores are 0: a query gets the mean of what it sees
value = np.array([1, 2, 3], dtype=np.float32).reshape(1, 1, 3, 1)
print("a mask of one row:", causal(zeros, zeros, value, np.ones((1, 1, 1, 3), dtype=bool)))
print("a mask of three rows:", causal(zeros, zeros, value, np.ones((1, 1, 3, 3), dtype=bool)))
