"""The reference against ONNX's own evaluator of the Attention operator, on signed inputs in double precision.

ONNX's cases draw their inputs from 0 to 1, where all weights are nearly alike and much goes unseen.
"""

import numpy as np
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import merge_heads, split_heads

B, H, L, S, E, F = 2, 3, 5, 7, 4, 6
RNG = np.random.default_rng(23)
Q, K, V = (3 * RNG.normal(size=shape) for shape in [(B, H, L, E), (B, H, S, E), (B, H, S, F)])
BIAS = RNG.normal(size=(B, H, L, S))
MASK = RNG.random((B, 1, L, S)) < 0.5
MASK[1, 0, 2] = False  # this query sees no key
# What ONNX is asked (attributes and mask), and what the reference is.
CASES = {
    "plain": ({}, None, {}),
    "scale": ({"scale": 0.25}, None, {"scale": 0.25}),  # ONNX takes its root, in float32
    "causal": ({"is_causal": 1}, None, {"mask": causal(L, S)}),
    "mask": ({}, MASK, {"mask": torch.from_numpy(MASK)}),
    "bias": ({}, BIAS, {"bias": torch.from_numpy(BIAS)}),
    "causal and mask": ({"is_causal": 1}, MASK, {"mask": torch.from_numpy(MASK) & causal(L, S)}),
    "causal and bias": ({"is_causal": 1}, BIAS, {"mask": causal(L, S), "bias": torch.from_numpy(BIAS)}),
}


def evaluate(inputs, attributes):
    """Return ONNX's (output, weights)."""
    outputs = ["output", "", "", "weights"]
    node = onnx.helper.make_node("Attention", list(inputs), outputs, qk_matmul_output_mode=3, **attributes)
    output, _, _, weights = ReferenceEvaluator(node).run(None, inputs)
    return torch.from_numpy(output), torch.from_numpy(weights)


def assert_same(got, want):
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("attributes", "mask", "options"), CASES.values(), ids=CASES)
def test_attend_is_the_operator(attributes, mask, options):
    inputs = {"Q": Q, "K": K, "V": V} | ({} if mask is None else {"attn_mask": mask})
    assert_same(attend(*map(torch.from_numpy, (Q, K, V)), **options), evaluate(inputs, attributes))


def test_heads_are_split_and_merged_as_by_the_operator():
    named = {"Q": Q, "K": K, "V": V}
    packed = {name: x.transpose(0, 2, 1, 3).reshape(B, -1, H * x.shape[-1]) for name, x in named.items()}
    output, weights = attend(*(split_heads(torch.from_numpy(x), H) for x in packed.values()))
    assert_same((merge_heads(output), weights), evaluate(packed, {"q_num_heads": H, "kv_num_heads": H}))
