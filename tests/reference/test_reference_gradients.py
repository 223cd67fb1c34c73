"""Gradients of the reference against central differences in double precision (torch.autograd.gradcheck)."""

import pytest
import torch

from attnconf.reference.attention import attend
from attnconf.reference.multi_head_attention import multi_head_attention

B, H, L, S, E, F = 2, 3, 4, 5, 2, 7


def leaf(*shape):
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def draw_mask():
    """Return a mask under which one query of one head sees no key."""
    mask = torch.rand(B, H, L, S) < 0.7
    mask[1, 2, 3] = False
    return mask


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(41)
        yield


@pytest.mark.parametrize("scale", [None, -0.6])
@pytest.mark.parametrize("options", [(), ("mask",), ("bias",), ("mask", "bias")], ids=lambda o: "+".join(o) or "plain")
def test_the_gradients_of_attend_are_its_derivatives(options, scale):
    bias = leaf(H, 1, S) if "bias" in options else None
    mask = draw_mask() if "mask" in options else None
    leaves = [leaf(B, H, L, E), leaf(B, H, S, E), leaf(B, H, S, F), *([] if bias is None else [bias])]
    assert torch.autograd.gradcheck(lambda q, k, v, b=None: attend(q, k, v, mask, b, scale), leaves)


@pytest.mark.parametrize("options", [(), ("mask", "bias")], ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("biased", [True, False], ids=["biased", "unbiased"])
def test_the_gradients_of_multi_head_attention_are_its_derivatives(options, biased):
    width, sizes = H * 2, {"q": 4, "k": 7, "v": 8}
    mask = draw_mask() if "mask" in options else None
    bias = leaf(H, L, S) if "bias" in options else None
    weights = {f"{name}.weight": leaf(width, size) for name, size in sizes.items()} | {"out.weight": leaf(3, width)}
    if biased:
        weights |= {f"{name}.bias": leaf(width) for name in sizes} | {"out.bias": leaf(3)}
    inputs = [leaf(B, S if name in "kv" else L, size) for name, size in sizes.items()]

    def of_the_leaves(query, key, value, *rest):
        return multi_head_attention(query, key, value, dict(zip(weights, rest, strict=False)), H, mask, bias)

    assert torch.autograd.gradcheck(of_the_leaves, [*inputs, *weights.values(), *([] if bias is None else [bias])])


def test_the_gradients_of_the_values_add_up_to_those_of_the_outputs():
    q, k, v = leaf(B, H, L, E), leaf(B, H, S, E), leaf(B, H, S, F)
    cotangent = torch.randn(B, H, L, F, dtype=torch.float64)
    dk, dv = torch.autograd.grad(attend(q, k, v)[0], (k, v), cotangent)
    torch.testing.assert_close(dv.sum(dim=-2), cotangent.sum(dim=-2), rtol=0, atol=1e-12)
    torch.testing.assert_close(dk.sum(dim=-2), torch.zeros(B, H, E, dtype=torch.float64), rtol=0, atol=1e-12)
    assert dk.abs().max() > 1e-3
