"""ONNX's Attention: a negative scale gives NaN.

Requirement: ATT-SCALE-2
Project: onnx 1.23.2
On it: https://github.com/onnx/onnx/pull/6984 made its text "scaling factor applied to Q·Kᵀ", and has Q and K multiplied
    by the root of it; merged.
This is: an ambiguity: the text allows what the function, which is normative as well, cannot do; nothing is refused.

Prints:

    scale 0.5: [1.5, 1.62]
    scale -0.5: [nan, nan]
"""

import warnings

import numpy as np
import onnx.helper as helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")  # the root of a negative number
x = np.array([0, 1], dtype=np.float32).reshape(1, 1, 2, 1)
for scale in (0.5, -0.5):
    node = helper.make_node("Attention", ["q", "k", "v"], ["out"], scale=scale)
    q, k, v, out = (helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("q", "k", "v", "out"))
    graph = helper.make_graph([node], "scaled", [q, k, v], [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    (got,) = ReferenceEvaluator(model).run(None, {"q": x, "k": x, "v": 1 + x})
    print(f"scale {scale}: {[round(float(y), 2) for y in got.ravel()]}")
