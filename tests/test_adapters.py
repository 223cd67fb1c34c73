"""The shipped adapters against the formula, without the suite: outputs and gradients on a call that each supports."""

import pytest
import torch

from attnconf.adapters.contract import AttentionConfig, MultiHeadAttentionConfig
from attnconf.conformance.loading import load
from attnconf.conformance.names import adapter_names
from attnconf.reference.attention import attend
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

torch.set_num_threads(1)
IMPLEMENTATIONS = [i for name in adapter_names() for i in load(name)]


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def layer(implementation):
    """Return (config, weights, inputs) of a small layer that this implementation supports, and its mask."""
    alone = implementation.declares.get("inputs") == "self"
    always = implementation.declares.get("causality") == "always"
    config = MultiHeadAttentionConfig(12, 3, 4, 12, 12, 12, bias=not always, causal=always)
    weights = {f"{n}.weight": numbers(12, 12, seed=i) / 3 for i, n in enumerate(("q", "k", "v", "out"))}
    if config.bias:
        weights |= {f"{n}.bias": numbers(12, seed=9 + i) for i, n in enumerate(("q", "k", "v", "out"))}
    x = numbers(2, 5, 12, seed=20)
    inputs = [x, x, x] if alone else [x, numbers(2, 7, 12, seed=21), numbers(2, 7, 12, seed=22)]
    return config, weights, inputs, causal(5, 5) if always else None


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda i: i.name)
def test_multi_head_attention_is_the_formula(implementation):
    config, weights, inputs, mask = layer(implementation)
    for w in weights.values():
        w.requires_grad_()
    out = implementation.components["multi_head_attention"](config, weights)(*inputs)
    want, _ = multi_head_attention(*inputs, weights, 3, mask)
    torch.testing.assert_close(out, want, rtol=0, atol=1e-12)
    names = [n for n in weights if n != "k.bias"]
    got = torch.autograd.grad(out.square().sum(), [weights[n] for n in names])
    for name, g, w in zip(
        names, got, torch.autograd.grad(want.square().sum(), [weights[n] for n in names]), strict=True
    ):
        torch.testing.assert_close(g, w, rtol=0, atol=1e-9, msg=lambda m, name=name: f"{name}: {m}")


@pytest.mark.parametrize(
    "implementation", [i for i in IMPLEMENTATIONS if "attention" in i.components], ids=lambda i: i.name
)
def test_attention_is_the_formula(implementation):
    q, k, v = numbers(2, 3, 5, 8), numbers(2, 3, 7, 8, seed=1), numbers(2, 3, 7, 8, seed=2)
    key_mask = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])
    bias = numbers(5, 7, seed=3)
    forward = implementation.components["attention"](AttentionConfig(scale=0.3), {})
    out = forward(q, k, v, key_mask=key_mask, attn_bias=bias)
    want, _ = attend(q, k, v, key_mask[:, None, None, :], bias, 0.3)
    torch.testing.assert_close(out, want, rtol=0, atol=1e-12)


def test_there_are_the_adapters_that_the_readme_promises():
    assert set(adapter_names()) >= {
        "reference", "torch_nn", "torch_sdpa", "einops_separate", "fused_per_head", "fused_zero_one_mask",
        "projected_torch", "causal_narrowing",
    }  # fmt: skip
    assert {"torch_sdpa:math", "torch_sdpa:flash"} <= {i.name for i in IMPLEMENTATIONS}
