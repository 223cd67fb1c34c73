"""ONNX's reference evaluator: LayerNormalization of a single feature with a gain of five gives five features.

Requirement: LN-MISFIT-2, RMS-MISFIT-2
Project: onnx 1.23.2
On it: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html says that Y has the shape of X, to which the gain
    should be broadcastable, and not the other way.
On it: https://github.com/onnx/onnx/issues/5666 asked for that sentence; closed.
On it: https://github.com/microsoft/onnxruntime/pull/31990 says that ONNX Runtime keeps the shape of X, and rejects such
    a gain; open, for another reason.
This is: a bug: of the evaluator, which multiplies, and looks at no shape; RMSNormalization is the same.

Prints:

    LayerNormalization: the shape is inferred as (2, 1), and is (2, 5)
    RMSNormalization: the shape is inferred as (2, 1), and is (2, 5)
"""

import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from onnx.shape_inference import infer_shapes

x, gain = np.ones((2, 1), dtype=np.float32), np.ones(5, dtype=np.float32)
for operator in ("LayerNormalization", "RMSNormalization"):
    node = helper.make_node(operator, ["x", "gain"], ["out"], axis=-1)
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, y.shape) for n, y in (("x", x), ("gain", gain))]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "norm", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    dims = infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type.shape.dim
    (out,) = ReferenceEvaluator(model).run(None, {"x": x, "gain": gain})
    print(f"{operator}: the shape is inferred as {tuple(d.dim_value for d in dims)}, and is {out.shape}")
