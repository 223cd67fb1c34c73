"""The reference against the node cases of ONNX's Attention operator.

Every case of the installed release is either run or has a reason, drawn from what it uses, for not being run.
"""

import importlib
import pkgutil
from collections import Counter
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
import torch
from onnx.backend.test.case import node as onnx_cases

from attnconf.reference.attention import attend, default_scale, score
from attnconf.reference.masks import add_bias, causal, hide, intersect, key_padding
from attnconf.reference.multi_head_attention import merge_heads, split_heads

# Inputs, outputs and attributes by the operator's own names: what our chapters can say, and what they cannot yet.
TENSORS = {"Q", "K", "V", "attn_mask", "nonpad_kv_seqlen", "Y", "qk_matmul_output"}
ATTRIBUTES = {"scale", "is_causal", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode"}
LATER = {
    "softcap": "soft cap: a later chapter",
    "left_window_size": "sliding window: a later chapter",
    "right_window_size": "sliding window: a later chapter",
    "past_key": "key/value cache: a later chapter",
    "past_value": "key/value cache: a later chapter",
    "present_key": "key/value cache: a later chapter",
    "present_value": "key/value cache: a later chapter",
    "softmax_precision": "softmax in another precision than the inputs': the reference keeps theirs",
}
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


def count_heads(call, name, attribute):
    x = call.inputs[name]
    return x.shape[1] if x.ndim == 4 else call.attributes[attribute]


def reasons_not_to_run(call):
    """Return why our chapters cannot express this call, an empty list if they can."""
    reasons = {LATER[name] for name in features(call) & LATER.keys()}
    if count_heads(call, "Q", "q_num_heads") != count_heads(call, "K", "kv_num_heads"):
        reasons.add("grouped heads: a later chapter")
    return sorted(reasons)


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


def add_causal_and_padding(call, mask, queries, keys):
    """Return the mask with causality, aligned to the last real key if their number is given, and padding."""
    real = call.inputs.get("nonpad_kv_seqlen")
    if real is not None:
        mask = intersect(mask, key_padding(torch.arange(keys) < real[:, None]))
    if "is_causal" not in call.attributes:
        return mask
    if real is None:
        return intersect(mask, causal(queries, keys))
    return intersect(mask, torch.stack([causal(queries, keys, n - queries) for n in real.tolist()])[:, None])


def run(call):
    """Return the outputs of the call, computed by the reference."""
    q = read_heads(call, "Q", "q_num_heads")
    k, v = (read_heads(call, name, "kv_num_heads") for name in "KV")
    scale = call.attributes.get("scale", default_scale(q))
    mask, bias = read_mask(call, k.shape[-2])
    mask = add_causal_and_padding(call, mask, q.shape[-2], k.shape[-2])
    out, weights = attend(q, k, v, mask, bias, scale)
    scores = score(q, k, scale)
    captured = {0: scores, 2: hide(add_bias(scores, bias), mask), 3: weights}
    outputs = {"Y": out if call.inputs["Q"].ndim == 4 else merge_heads(out)}
    if "qk_matmul_output" in call.outputs:
        outputs["qk_matmul_output"] = captured[call.attributes.get("qk_matmul_output_mode", 0)]
    return outputs


CALLS = load_calls()
EXPRESSED = [call for call in CALLS if not reasons_not_to_run(call)]


def assert_same_outputs(got, call):
    assert got.keys() == call.outputs.keys()
    for name, want in call.outputs.items():
        assert got[name].dtype == want.dtype
        torch.testing.assert_close(got[name], want, rtol=RELATIVE[want.dtype], atol=1e-7)


@pytest.mark.parametrize("call", EXPRESSED, ids=lambda call: call.name.removeprefix("test_attention_"))
def test_the_reference_passes_the_case(call):
    assert_same_outputs(run(call), call)


def test_every_case_is_run_or_has_a_reason(record_property):
    for call in CALLS:
        unknown = features(call) - TENSORS - ATTRIBUTES - LATER.keys()
        assert not unknown, f"{call.name} uses {unknown}: run it, or give a reason under LATER"
    reasons = Counter(reason for call in CALLS for reason in reasons_not_to_run(call))
    counts = {"cases run": len(EXPRESSED), "cases not run": len(CALLS) - len(EXPRESSED)} | dict(reasons)
    for what, count in counts.items():
        print(f"{count:3} {what}")
        record_property(what, count)
    assert EXPRESSED
    assert set(LATER.values()) <= reasons.keys(), "a reason that no case has is stale"
