"""ONNX's reference evaluator: LayerNormalization of bfloat16 sums in bfloat16, though stash_type asks for float32.

Requirement: LN-HALF-1, RMS-HALF-1
Project: onnx 1.23.2
On it: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html has stash_type for the precision in which mean and
    variance are computed, 1 by default, which is float32.
On it: https://github.com/onnx/onnx/blob/main/onnx/reference/ops/op_layer_normalization.py accepts no other value, and
    computes in the type of X.
This is: a bug: the operator's own text says otherwise; RMSNormalization is the same.

Prints:

    the variance of the output is 16.0, where 1 is meant
"""

import ml_dtypes
import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

node = helper.make_node("LayerNormalization", ["x", "gain"], ["out"], axis=-1, stash_type=1)
values = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, None) for name in ("x", "gain", "out")]
graph = helper.make_graph([node], "norm", values[:2], values[2:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
x = np.tile(np.array([1, -1], dtype=ml_dtypes.bfloat16), 2048)[None]
(out,) = ReferenceEvaluator(model).run(None, {"x": x, "gain": np.ones(4096, dtype=ml_dtypes.bfloat16)})
print(f"the variance of the output is {(out.astype(np.float64) ** 2).mean():.1f}, where 1 is meant")
