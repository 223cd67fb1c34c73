"""Vectors of offsets against loops written from the paper, and against what tensor2tensor's code gives for rows."""

import math

import pytest
import torch

from attnconf.reference.attention_family import Member, family_attention, offset_rows

B, L, H, D, K = 2, 7, 3, 4, 2


def drawn(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def clip(offset):
    return max(-K, min(K, offset))


def in_loops(x, weights, values_too, causal):
    """Return e_ij = x_i W^Q (x_j W^K + a^K_ij)ᵀ / √d and z_i = Σ_j α_ij (x_j W^V + a^V_ij), heads side by side."""
    out = torch.zeros(B, L, H * D, dtype=torch.float64)
    q, k, v = (x @ weights[f"{name}.weight"].T for name in "qkv")
    for b in range(B):
        for h in range(H):
            own = slice(h * D, (h + 1) * D)
            for i in range(L):
                seen = range(i + 1 if causal else L)
                keys = [k[b, j, own] + weights["relative_keys.weight"][clip(j - i) + K] for j in seen]
                e = [math.exp(float(q[b, i, own] @ key) / math.sqrt(D)) for key in keys]
                for j in seen:
                    a = weights["relative_values.weight"][clip(j - i) + K] if values_too else 0.0
                    out[b, i, own] += e[j] / sum(e) * (v[b, j, own] + a)
    return out @ weights["out.weight"].T


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("values", ["no", "yes"])
def test_attention_by_loops(values, causal):
    weights = {f"{name}.weight": drawn(H * D, H * D, seed=n) / 3 for n, name in enumerate(("q", "k", "v", "out"))}
    weights |= {f"relative_{name}.weight": drawn(2 * K + 1, D, seed=n) for n, name in ((5, "keys"), (6, "values"))}
    x = drawn(B, L, H * D, seed=7)
    mask = torch.ones(L, L).tril().bool() if causal else None
    member = Member(positions="shaw", relative_values=values)
    got, _ = family_attention(x, x, x, weights, H, member, mask)
    torch.testing.assert_close(got, in_loops(x, weights, values == "yes", causal))


def test_rows_are_those_of_tensor2tensor():
    """Its _generate_relative_positions_matrix takes transposed from not transposed positions: key minus query."""
    for length, farthest in ((3, 4), (5, 2), (6, 1)):
        positions = torch.arange(length)
        theirs = positions.expand(length, length) - positions.expand(length, length).T
        assert torch.equal(offset_rows(length, length, farthest), theirs.clamp(-farthest, farthest) + farthest)


def test_new_queries_stand_behind_those_before():
    assert torch.equal(offset_rows(2, 6, 3, begin=4), offset_rows(6, 6, 3)[4:])
