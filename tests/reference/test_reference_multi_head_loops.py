"""Multi-head attention against a loop over samples and heads, each head with its own slice of the matrices."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

from attnconf.reference.multi_head_attention import merge_heads, multi_head_attention, split_heads


class Sizes(NamedTuple):
    """Pairwise distinct in every case; D is the width of one head, O of the output."""

    B: int
    L: int
    S: int
    H: int
    D: int
    E: int
    Ek: int
    Ev: int
    O: int  # noqa: E741 (the spec's letter)


SIZES = {
    "distinct": Sizes(B=2, L=5, S=7, H=3, D=4, E=6, Ek=8, Ev=9, O=10),
    "more heads than width": Sizes(B=3, L=6, S=4, H=5, D=2, E=9, Ek=7, Ev=8, O=11),
    "one head": Sizes(B=2, L=5, S=7, H=1, D=4, E=6, Ek=8, Ev=9, O=3),
    "one query": Sizes(B=2, L=1, S=7, H=3, D=4, E=6, Ek=8, Ev=9, O=5),
    "one key": Sizes(B=2, L=5, S=1, H=3, D=4, E=6, Ek=8, Ev=9, O=7),
}
BIASES = {"all": ["q", "k", "v", "out"], "none": [], "only out": ["out"], "only k and v": ["k", "v"]}
BOUNDS = {torch.float64: 1e-12, torch.float32: 1e-5}


def draw(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def draw_weights(sizes, biases):
    """Return matrices that keep the scale of their input, and biases of the order of one."""
    rng = np.random.default_rng(512)
    width = sizes.H * sizes.D
    weights = {f"{name}.weight": draw(rng, width, i) / i**0.5 for name, i in zip("qkv", sizes[5:8], strict=True)}
    weights["out.weight"] = draw(rng, sizes.O, width) / width**0.5
    for name in ["q", "k", "v", "out"]:
        bias = draw(rng, sizes.O if name == "out" else width)
        if name in biases:
            weights[f"{name}.bias"] = bias
    return weights


def draw_inputs(sizes):
    rng = np.random.default_rng(64)
    B, L, S = sizes[:3]
    return draw(rng, B, L, sizes.E), draw(rng, B, S, sizes.Ek), draw(rng, B, S, sizes.Ev)


def draw_mask(sizes):
    """Return a full mask in which query 0 of the first sample sees no key in head 0."""
    mask = np.random.default_rng(2048).random((sizes.B, sizes.H, sizes.L, sizes.S)) < 0.6
    mask[0, 0, 0] = False
    return torch.from_numpy(mask)


def draw_bias(sizes):
    return draw(np.random.default_rng(4096), sizes.B, sizes.H, sizes.L, sizes.S)


def one_head(q, k, v, mask, bias):
    """Return (context, weights) of one head of one sample, query by query, key by key."""
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            if mask[i, j]:
                weights[i, j] = np.exp(q[i] @ k[j] / np.sqrt(q.shape[1]) + bias[i, j])
        if weights[i].sum() > 0.0:
            weights[i] /= weights[i].sum()
    return weights @ v, weights


def heads_by_loops(query, key, value, weights, H, mask, bias):
    """Return (output, attention weights): the sum over heads of context_h · W_out[:, h]ᵀ, plus the bias."""
    D = len(weights["q.weight"]) // H
    zeros = np.zeros(H * D)
    out = np.zeros((*query.shape[:2], len(weights["out.weight"]))) + weights.get("out.bias", 0.0)
    attention = np.zeros((len(query), H, query.shape[1], key.shape[1]))
    for b, h in np.ndindex(len(query), H):
        rows = slice(h * D, (h + 1) * D)
        q, k, v = (
            x[b] @ weights[f"{name}.weight"][rows].T + weights.get(f"{name}.bias", zeros)[rows]
            for name, x in zip("qkv", (query, key, value), strict=True)
        )
        context, attention[b, h] = one_head(q, k, v, mask[b, h], bias[b, h])
        out[b] += context @ weights["out.weight"][:, rows].T
    return out, attention


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("biases", BIASES.values(), ids=BIASES)
@pytest.mark.parametrize("options", [(), ("mask",), ("bias",), ("mask", "bias")], ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_multi_head_attention_is_a_loop_over_heads(sizes, options, biases, dtype):
    weights = {name: w.to(dtype) for name, w in draw_weights(sizes, biases).items()}
    inputs = [x.to(dtype) for x in draw_inputs(sizes)]
    mask = draw_mask(sizes) if "mask" in options else None
    bias = draw_bias(sizes).to(dtype) if "bias" in options else None
    want = heads_by_loops(
        *(x.double().numpy() for x in inputs),
        {name: w.double().numpy() for name, w in weights.items()},
        sizes.H,
        np.ones((sizes.B, sizes.H, sizes.L, sizes.S)) if mask is None else mask.numpy(),
        np.zeros((sizes.B, sizes.H, sizes.L, sizes.S)) if bias is None else bias.double().numpy(),
    )
    for got, loops in zip(multi_head_attention(*inputs, weights, sizes.H, mask, bias), want, strict=True):
        torch.testing.assert_close(got, torch.from_numpy(loops).to(dtype), rtol=0, atol=BOUNDS[dtype])


def test_split_heads_gives_head_h_the_hth_slice():
    B, T, H, D = 2, 5, 3, 4
    x = draw(np.random.default_rng(8), B, T, H * D)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, D)
    for b, t, h, d in np.ndindex(B, T, H, D):
        assert heads[b, h, t, d].item() == x[b, t, h * D + d].item()


def test_merge_heads_puts_head_h_into_the_hth_slice():
    B, T, H, D = 2, 5, 3, 4
    x = draw(np.random.default_rng(9), B, H, T, D)
    merged = merge_heads(x)
    assert merged.shape == (B, T, H * D)
    for b, t, h, d in np.ndindex(B, T, H, D):
        assert merged[b, t, h * D + d].item() == x[b, h, t, d].item()


def test_a_width_that_heads_do_not_divide_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="10 cannot be split into 3"):
        split_heads(torch.zeros(2, 5, 10), 3)


def test_the_inputs_are_neither_changed_nor_handed_back():
    sizes = SIZES["distinct"]
    inputs, weights = draw_inputs(sizes), draw_weights(sizes, BIASES["all"])
    before = [x.clone() for x in [*inputs, *weights.values()]]
    out, attention = multi_head_attention(*inputs, weights, sizes.H, draw_mask(sizes), draw_bias(sizes))
    out.zero_()
    attention.zero_()
    for now, then in zip([*inputs, *weights.values()], before, strict=True):
        assert torch.equal(now, then)
