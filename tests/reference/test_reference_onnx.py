"""The reference against the node cases of ONNX's Attention operator.

Every case of the installed release is run: grouped heads, soft caps, windows, and keys and values of earlier calls.
"""

import importlib
import pkgutil
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
import torch
from onnx.backend.test.case import node as onnx_cases

from attnconf.reference.attention import default_scale, mix, score, weigh
from attnconf.reference.attention_family import cap, prepare, share_keys, share_values, within
from attnconf.reference.masks import causal, intersect, key_padding
from attnconf.reference.multi_head_attention import merge_heads, split_heads

# Inputs, outputs and attributes by the operator's own names: a case that uses another is not understood.
TENSORS = {
    "Q", "K", "V", "attn_mask", "nonpad_kv_seqlen", "past_key", "past_value",
    "Y", "present_key", "present_value", "qk_matmul_output",
}  # fmt: skip
ATTRIBUTES = {
    "scale", "is_causal", "q_num_heads", "kv_num_heads", "softcap", "left_window_size", "right_window_size",
    "qk_matmul_output_mode", "softmax_precision",
}  # fmt: skip
PRECISIONS = {onnx.TensorProto.FLOAT: torch.float32, onnx.TensorProto.DOUBLE: torch.float64}
# ONNX allows 1e-3, and two units in the last place where that is less than one (bfloat16); float16 needs the same.
RELATIVE = {torch.float32: 1e-5, torch.float16: 2 * 2**-10, torch.bfloat16: 2 * 2**-7}


class Call(NamedTuple):
    """One call of the operator: what goes in, and what has to come out."""

    name: str
    inputs: dict[str, torch.Tensor]
    attributes: dict[str, Any]  # those that differ from the default
    outputs: dict[str, torch.Tensor]


def tensor_of(array):
    if array.dtype.name == "bfloat16":  # which torch cannot take from NumPy, while float32 holds it exactly
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(array)


def pair(formal, actual, arrays):
    """Return the arrays under the operator's own names; an input or output called "" is left out."""
    present = [parameter.name for parameter, name in zip(formal, actual, strict=False) if name]
    return dict(zip(present, map(tensor_of, arrays), strict=True))


def read_call(case):
    (node,) = case.model.graph.node
    schema = onnx.defs.get_schema("Attention")
    ((inputs, outputs),) = case.data_sets
    chosen = [a for a in node.attribute if a != schema.attributes[a.name].default_value]
    return Call(
        name=case.name,
        inputs=pair(schema.inputs, node.input, inputs),
        attributes={a.name: onnx.helper.get_attribute_value(a) for a in chosen},
        outputs=pair(schema.outputs, node.output, outputs),
    )


def load_calls():
    """Return a call per case, those that spell the operator out in primitives excepted.

    Importing a module makes its cases; only modules that mention the operator are imported, as all take 6 s.
    """
    for module in pkgutil.iter_modules(onnx_cases.__path__):
        source = files(onnx_cases) / f"{module.name}.py"
        if source.is_file() and '"Attention"' in source.read_text(encoding="utf-8"):
            importlib.import_module(f"{onnx_cases.__name__}.{module.name}")
    cases = [case for case in onnx_cases._NodeTestCases if "Attention" in {n.op_type for n in case.model.graph.node}]
    return [read_call(case) for case in cases]


def features(call):
    return {*call.inputs, *call.outputs, *call.attributes}


def read_heads(call, name, attribute):
    x = call.inputs[name]
    return x if x.ndim == 4 else split_heads(x, call.attributes[attribute])


def read_mask(call, keys):
    """Return (mask, bias): the operator's attn_mask is one or the other, and may be short of hidden keys at the end."""
    given = call.inputs.get("attn_mask")
    if given is None:
        return None, None
    missing = (0, keys - given.shape[-1])
    if given.dtype == torch.bool:
        return torch.nn.functional.pad(given, missing, value=False), None
    return None, torch.nn.functional.pad(given, missing, value=float("-inf"))


def after_the_past(call, name, fresh):
    """Return keys or values behind those of earlier calls, (B, K, S, D)."""
    past = call.inputs.get(f"past_{name}")
    return fresh if past is None else torch.cat([past, fresh], dim=-2)


def offsets(call, queries):
    """Return how many keys come before the first query: of each sample where the number of real keys is given."""
    real = call.inputs.get("nonpad_kv_seqlen")
    if real is not None:
        return [n - queries for n in real.tolist()]
    return [call.inputs["past_key"].shape[-2] if "past_key" in call.inputs else 0]


def for_each_sample(call, queries, allowed):
    """Return the masks that ``allowed`` gives for offsets, (B or 1, 1, L, S)."""
    return torch.stack([allowed(offset) for offset in offsets(call, queries)])[:, None]


def read_window(call):
    """Return (left, right), None for a side without an end; None where no side has one."""
    sides = (call.attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    window = tuple(None if side == -1 else side for side in sides)
    return None if window == (None, None) else window


def within_after(queries, keys, window, offset):
    """Return which keys lie in the window of each query, the first of which stands behind ``offset`` keys, (L, S)."""
    return within(offset + queries, keys, window)[offset:]


def restrict(call, mask, queries, keys):
    """Return the mask with padding, causality and the window, both counted from each query's place among the keys."""
    real, window = call.inputs.get("nonpad_kv_seqlen"), read_window(call)
    if real is not None:
        mask = intersect(mask, key_padding(torch.arange(keys) < real[:, None]))
    if "is_causal" in call.attributes:
        mask = intersect(mask, for_each_sample(call, queries, lambda offset: causal(queries, keys, offset)))
    if window is not None:
        after = partial(within_after, queries, keys, window)
        mask = intersect(mask, for_each_sample(call, queries, after))
    return mask


def weigh_precisely(call, scores):
    """Return the weights, computed in the precision that the call asks for and in the dtype of the scores."""
    asked = call.attributes.get("softmax_precision")
    precision = scores.dtype if asked is None else PRECISIONS[asked]
    return weigh(scores.to(precision)).to(scores.dtype)


def run(call):
    """Return the outputs of the call, computed by the reference."""
    q = read_heads(call, "Q", "q_num_heads")  # (B, H, L, D)
    present = {
        name: after_the_past(call, name, read_heads(call, name[0].upper(), "kv_num_heads")) for name in ("key", "value")
    }  # (B, K, S, D)
    k, v = share_keys(present["key"], q.shape[1]), share_values(present["value"], q.shape[1])
    mask, bias = read_mask(call, k.shape[-2])
    seen = restrict(call, mask, q.shape[-2], k.shape[-2])
    scores = score(q, k, call.attributes.get("scale", default_scale(q)))  # (B, H, L, S)
    softcap = call.attributes.get("softcap")
    hidden = prepare(scores, softcap, (bias,), seen)
    weights = weigh_precisely(call, hidden)
    out = mix(weights, v)
    captured = (scores, cap(scores, softcap), hidden, weights)[call.attributes.get("qk_matmul_output_mode", 0)]
    outputs = {
        "Y": out if call.inputs["Q"].ndim == 4 else merge_heads(out),
        **{f"present_{name}": x for name, x in present.items()},
        "qk_matmul_output": captured,
    }
    return {name: x for name, x in outputs.items() if name in call.outputs}


CALLS = load_calls()


def assert_same_outputs(got, call):
    assert got.keys() == call.outputs.keys()
    for name, want in call.outputs.items():
        assert got[name].dtype == want.dtype
        torch.testing.assert_close(got[name], want, rtol=RELATIVE[want.dtype], atol=1e-7)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name.removeprefix("test_attention_"))
def test_the_reference_passes_the_case(call):
    assert_same_outputs(run(call), call)


def test_every_case_is_understood():
    for call in CALLS:
        unknown = features(call) - TENSORS - ATTRIBUTES
        assert not unknown, f"{call.name} uses {unknown}: read it, or what the case is about is not tested"
    used = set().union(*map(features, CALLS))
    assert used == TENSORS | ATTRIBUTES, "a name that no case has is stale"
