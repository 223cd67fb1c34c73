"""ONNX's Gather: a negative index counts from the end of the table.

Requirement: EMB-NEG-1
Project: onnx 1.23.2
On it: https://onnx.ai/onnx/operators/onnx__Gather.html has indices within [-s, s - 1], and calls all others an error.
This is: a documented choice: Gather is no embedding, and a graph that uses it as one has to check its ids itself.

Prints:

    id -1 of 5: the row of id 4
    id 5 of 5: IndexError: index 5 is out of bounds for axis 0 with size 5
"""

import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

node = helper.make_node("Gather", ["table", "ids"], ["out"], axis=0)
kinds = {"table": TensorProto.FLOAT, "ids": TensorProto.INT64}
inputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()]
graph = helper.make_graph([node], "rows", inputs, [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)])
evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]))
table = np.arange(5, dtype=np.float32)[:, None]
for name in (-1, 5):
    try:
        (out,) = evaluator.run(None, {"table": table, "ids": np.array([name])})
        print(f"id {name} of 5: the row of id {int(out[0, 0])}")
    except IndexError as error:
        print(f"id {name} of 5: IndexError: {error}")
