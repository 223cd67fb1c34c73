"""The reference against torch.nn on inputs where every query sees a key: outputs, weights and gradients.

Without a visible key torch.nn gives NaN or zeros, depending on the path taken; see test_reference_closed_forms.py.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal, intersect, key_padding
from attnconf.reference.multi_head_attention import multi_head_attention

B, H, L, S, E, F = 2, 3, 5, 7, 4, 6
WIDTH, EK, EV = 12, 9, 8  # of queries and output, of keys' and of values' input
BOUNDS = {torch.float64: 1e-12, torch.float32: 1e-5}


def draw(*shape, seed, dtype=torch.float64):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


def draw_mask(*shape):
    """Return a random mask that leaves every query the first key."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(7)) < 0.6
    mask[..., 0] = True
    return mask


def assert_all_close(got, want, dtype):
    for mine, theirs in zip(got, want, strict=True):
        assert (theirs.abs() > 1e-3).any()
        torch.testing.assert_close(mine, theirs, rtol=0, atol=BOUNDS[dtype])


SDPA = {
    "plain": ({}, {}),
    "scale": ({"scale": 0.8}, {"scale": 0.8}),
    "mask": ({"mask": draw_mask(B, H, L, S)}, {"attn_mask": draw_mask(B, H, L, S)}),
    "mask for all heads": ({"mask": draw_mask(B, 1, L, S)}, {"attn_mask": draw_mask(B, 1, L, S)}),
    "causal": ({"mask": causal(L, S)}, {"is_causal": True}),
}


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize(("mine", "theirs"), SDPA.values(), ids=SDPA)
def test_attend_is_scaled_dot_product_attention(mine, theirs, dtype):
    shapes = [(B, H, L, E), (B, H, S, E), (B, H, S, F)]
    inputs = [draw(*shape, seed=i, dtype=dtype).requires_grad_() for i, shape in enumerate(shapes)]
    cotangent = draw(B, H, L, F, seed=3, dtype=dtype)
    got, want = attend(*inputs, **mine)[0], functional.scaled_dot_product_attention(*inputs, **theirs)
    assert_all_close([got], [want], dtype)
    assert_all_close(torch.autograd.grad(got, inputs, cotangent), torch.autograd.grad(want, inputs, cotangent), dtype)


@pytest.mark.parametrize("shape", [(B, H, L, S), (1, H, 1, S), (L, S)], ids=str)
def test_a_bias_is_a_float_mask(shape):
    q, k, v = draw(B, H, L, E, seed=1), draw(B, H, S, E, seed=2), draw(B, H, S, F, seed=3)
    bias = draw(*shape, seed=4).requires_grad_()
    cotangent = draw(B, H, L, F, seed=5)
    got = attend(q, k, v, bias=bias)[0]
    want = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    assert_all_close([got], [want], torch.float64)
    assert_all_close(
        torch.autograd.grad(got, bias, cotangent), torch.autograd.grad(want, bias, cotangent), torch.float64
    )


def build_layer(bias, widths):
    """Return a double-precision nn.MultiheadAttention whose every parameter, biases too, is of the order of one."""
    layer = nn.MultiheadAttention(WIDTH, H, bias=bias, kdim=widths[0], vdim=widths[1], batch_first=True).double()
    for i, parameter in enumerate(layer.parameters()):
        fan = parameter.shape[-1] if parameter.ndim == 2 else 1
        parameter.data = draw(*parameter.shape, seed=100 + i) / fan**0.5
    return layer


def weights_of(layer):
    """Return the layer's parameters under our names, as views that let gradients through."""
    packed = layer.in_proj_weight
    weights = [layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight] if packed is None else packed.chunk(3)
    biases = () if layer.in_proj_bias is None else layer.in_proj_bias.chunk(3)
    named = {f"{name}.weight": w for name, w in zip("qkv", weights, strict=True)}
    named |= {f"{name}.bias": b for name, b in zip("qkv", biases, strict=bool(biases))}
    named["out.weight"] = layer.out_proj.weight
    return named if layer.out_proj.bias is None else named | {"out.bias": layer.out_proj.bias}


KEY_MASK = torch.tensor([[True] * S, [True] * 4 + [False] * 3])
ATTN_MASK = draw_mask(B, H, L, S)
FLOAT_MASK = draw(B, H, L, S, seed=17)
# Ours, and nn.MultiheadAttention's: True hides there, and samples and heads share an axis.
MHA = {
    "plain": ({}, {}),
    "padding": ({"mask": key_padding(KEY_MASK)}, {"key_padding_mask": ~KEY_MASK}),
    "causal": ({"mask": causal(L, S)}, {"attn_mask": ~causal(L, S)}),
    "mask": ({"mask": ATTN_MASK}, {"attn_mask": ~ATTN_MASK.flatten(0, 1)}),
    "bias": ({"bias": FLOAT_MASK}, {"attn_mask": FLOAT_MASK.flatten(0, 1)}),
    "mask and padding": (
        {"mask": intersect(ATTN_MASK, key_padding(KEY_MASK))},
        {"attn_mask": ~ATTN_MASK.flatten(0, 1), "key_padding_mask": ~KEY_MASK},
    ),
}


@pytest.mark.parametrize("bias", [True, False], ids=["biased", "unbiased"])
@pytest.mark.parametrize("widths", [(WIDTH, WIDTH), (EK, EV)], ids=["packed", "kdim and vdim"])
@pytest.mark.parametrize(("mine", "theirs"), MHA.values(), ids=MHA)
def test_multi_head_attention_is_the_layer(mine, theirs, widths, bias):
    layer = build_layer(bias, widths)
    shapes = [(B, L, WIDTH), (B, S, widths[0]), (B, S, widths[1])]
    inputs = [draw(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    got = multi_head_attention(*inputs, weights_of(layer), H, **mine)
    want = layer(*inputs, average_attn_weights=False, **theirs)
    assert_all_close(got, want, torch.float64)

    leaves = [*inputs, *layer.parameters()]
    cotangents = [draw(B, L, WIDTH, seed=8), draw(B, H, L, S, seed=9)]  # for the output and for the weights
    ours, layers = (torch.autograd.grad(outputs, leaves, cotangents) for outputs in (got, want))
    assert_all_close(ours, layers, torch.float64)


def test_the_layers_averaged_weights_are_the_mean_over_heads():
    layer = build_layer(True, (WIDTH, WIDTH))
    query, key = draw(B, L, WIDTH, seed=1), draw(B, S, WIDTH, seed=2)
    _, per_head = multi_head_attention(query, key, key, weights_of(layer), H)
    assert_all_close([per_head.mean(dim=1)], [layer(query, key, key)[1]], torch.float64)
