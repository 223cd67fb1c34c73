"""ONNX: the operators of opset 23 in the reference evaluator, which is NumPy: attention, rotation, norms and rows."""

import ml_dtypes
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from attnconf.adapters.kit.weight_names import both, demand, over_keys

__version__ = onnx.__version__
TYPES = {
    torch.float64: TensorProto.DOUBLE, torch.float32: TensorProto.FLOAT, torch.float16: TensorProto.FLOAT16,
    torch.bfloat16: TensorProto.BFLOAT16, torch.int64: TensorProto.INT64, torch.int32: TensorProto.INT32,
    torch.bool: TensorProto.BOOL,
}  # fmt: skip


def run(operator, inputs, outputs=("Y",), **attributes):
    """Return what a model of this one operator gives; outputs and inputs that are not wanted have no name."""
    given = {f"X{i}": x for i, x in enumerate(inputs) if x is not None}
    names = [f"X{i}" if x is not None else "" for i, x in enumerate(inputs)]
    node = helper.make_node(operator, names, list(outputs), **attributes)
    declared = [helper.make_tensor_value_info(n, TYPES[x.dtype], x.shape) for n, x in given.items()]
    result = [helper.make_tensor_value_info(n, TYPES[inputs[0].dtype], None) for n in outputs if n]
    graph = helper.make_graph([node], operator, declared, result)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    if operator != "RotaryEmbedding":  # which has no float64, in which meaning is judged
        onnx.shape_inference.infer_shapes(model, True, True)  # refuses types that the evaluator does not look at
    out = ReferenceEvaluator(model).run(None, {name: to_numpy(x) for name, x in given.items()})
    return to_torch(out[0]) if len(out) == 1 else tuple(map(to_torch, out))


def to_numpy(x):
    if x.device.type != "cpu":
        raise NotImplementedError("devices other than the CPU")
    x = x.detach()
    return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def to_torch(x):
    x = np.array(x)
    return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16) if x.dtype == ml_dtypes.bfloat16 else torch.tensor(x)


def attention(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    options = {"is_causal": int(config.causal)} | ({} if config.scale is None else {"scale": config.scale})

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = both(attn_mask, over_keys(key_mask))
        if attn_bias is not None:  # there is one input for both
            mask = attn_bias if mask is None else torch.where(mask, attn_bias, float("-inf"))
        if need_weights:
            return run("Attention", (query, key, value, mask), ("Y", "", "", "A"), qk_matmul_output_mode=3, **options)
        return run("Attention", (query, key, value, mask), **options)

    return forward


def make_rotary(interleaved):
    def rotary(config, weights):
        """Hand over cosines and sines: the operator takes these as inputs."""
        demand(config, scaling=None)
        rates = config.base ** (-torch.arange(0, config.rotary_dim, 2, dtype=torch.float64) / config.rotary_dim)
        options = {"interleaved": int(interleaved), "rotary_embedding_dim": config.rotary_dim}

        def forward(x, *, positions=None):
            positions = torch.arange(x.shape[-2]) if positions is None else positions
            angles = torch.arange(max([0, *positions.flatten().tolist()]) + 1)[:, None] * rates
            places = positions.expand(len(x), x.shape[-2])
            return run("RotaryEmbedding", (x, angles.cos().to(x.dtype), angles.sin().to(x.dtype), places), **options)

        return forward

    return rotary


def layer_norm(config, weights):
    demand(config, affine=True)
    given = (weights["weight"], weights.get("bias"))
    return lambda x: run("LayerNormalization", (x, *given), axis=-len(config.shape), epsilon=config.eps)


def rms_norm(config, weights):
    return lambda x: run("RMSNormalization", (x, weights["weight"]), axis=-1, epsilon=config.eps)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    return lambda ids: run("Gather", (weights["table.weight"], ids), axis=0)


variants = {
    "half": {
        "attention": attention, "rotary": make_rotary(False), "layer_norm": layer_norm, "rms_norm": rms_norm,
        "token_embedding": token_embedding, "profile": "inference-1",
        "declares": {
            "fully-masked-row": "zeros", "causal-alignment": "top-left", "returned-weights": "per-head",
            "rope-pairing": "half", "rms-norm-weight": "plain", "rms-norm-cast": "after", "embedding-scale": "none",
        },
    },
    "interleaved": {
        "rotary": make_rotary(True), "profile": "inference-1", "declares": {"rope-pairing": "interleaved"},
    },
}  # fmt: skip
