"""ONNX's reference evaluator: Attention with NaN in a key or a value that the mask hides: all outputs are NaN.

Requirement: MASK-NAN-1
Project: onnx 1.23.2
On it: https://github.com/onnx/onnx/blob/main/onnx/reference/ops/op_attention.py adds -inf to hidden scores, and NaN
    less infinity is NaN; hidden values are multiplied by 0.
On it: https://github.com/onnx/onnx/pull/8068 keeps NaN out of rows without keys; merged. NaN that goes in is not
    mentioned.
This is: an ambiguity: it is what IEEE 754 makes of the operator's text, and nothing says that it is meant.

Prints:

    hidden key 10000000000.0: 0 of 24 features are NaN
    hidden value 10000000000.0: 0 of 24 features are NaN
    hidden key nan: 24 of 24 features are NaN
    hidden value nan: 24 of 24 features are NaN
"""

import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

node = helper.make_node("Attention", ["q", "k", "v", "mask"], ["out"])
kinds = {"q": TensorProto.FLOAT, "k": TensorProto.FLOAT, "v": TensorProto.FLOAT, "mask": TensorProto.BOOL}
inputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()]
graph = helper.make_graph([node], "hidden", inputs, [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)])
evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]))
x = np.random.default_rng(0).standard_normal((1, 1, 3, 8)).astype(np.float32)
for hidden in (1e10, np.nan):
    spoilt = x.copy()
    spoilt[:, :, 2] = hidden
    for name, (key, value) in {"key": (spoilt, x), "value": (x, spoilt)}.items():
        given = {"q": x, "k": key, "v": value, "mask": np.array([[True, True, False]] * 3)}
        (out,) = evaluator.run(None, given)
        print(f"hidden {name} {hidden}: {np.isnan(out).sum()} of {out.size} features are NaN")
