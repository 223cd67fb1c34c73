"""Attention with rotations, against loops, and checkpoints in the two orders of features."""

import math

import numpy as np
import pytest
import torch
from rotation import close, draw, turned_by_loops

from attnconf.reference.rotary import frequencies, rotary_attention, rotate


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("positions", [None, [3, 1, 4, 0]])
def test_attention_by_loops(positions, causal):
    q, k, v = (draw(2, 3, 4, 6, seed=seed) for seed in range(3))
    omega = frequencies(6, 10000.0)
    at = range(4) if positions is None else positions
    turned_q, turned_k = (turned_by_loops(x, [at] * 2, omega.tolist()) for x in (q, k))
    want = torch.zeros_like(v)
    for b, h, i in np.ndindex(2, 3, 4):
        seen = range(i + 1 if causal else 4)
        e = [math.exp(float(turned_q[b, h, i] @ turned_k[b, h, j]) / math.sqrt(6)) for j in seen]
        for j in seen:
            want[b, h, i] += e[j] / sum(e) * v[b, h, j]
    given = None if positions is None else torch.tensor(positions)
    close(rotary_attention(q, k, v, given, omega, causal), want)


def test_a_reversed_rotation_is_relative_too():
    """Which is why only a closed form tells the direction."""
    q, k = draw(1, 1, 1, 8), draw(1, 1, 1, 8, seed=1)
    for omega in (frequencies(8, 10000.0), -frequencies(8, 10000.0)):
        scores = [
            float((rotate(q, torch.tensor([m]), omega, 8) * rotate(k, torch.tensor([n]), omega, 8)).sum())
            for m, n in ((5, 2), (7, 4), (103, 100))
        ]
        assert scores == pytest.approx([scores[0]] * 3, abs=1e-12)


def test_a_checkpoint_is_converted_by_permuting_rows():
    """Scores do not notice, where the pairing changes with the weights."""
    tokens, omega = draw(1, 1, 5, 12), frequencies(8, 10000.0)
    weights = [draw(8, 12, seed=seed) for seed in (1, 2)]
    rows = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    q, k = (rotate(tokens @ w.T, None, omega, 8) for w in weights)
    halves = torch.outer(torch.arange(5).double(), omega).repeat(1, 2)
    turned = [
        x * halves.cos() + torch.cat([-x[..., 4:], x[..., :4]], dim=-1) * halves.sin()
        for x in (tokens @ w[rows].T for w in weights)
    ]
    close(turned[0] @ turned[1].mT, q @ k.mT)


def test_torchtunes_published_sums_are_reproduced():
    """github.com/pytorch/torchtune, tests/torchtune/modules/test_position_embeddings.py: mean, sum and maximum."""
    x = torch.randn(4, 2048, 32, 128, generator=torch.Generator().manual_seed(0))
    out = rotate(x.transpose(1, 2), None, frequencies(128, 10000.0), 128)
    got = [float(out.mean()), float(out.sum()), float(out.max())]
    assert got == pytest.approx([6.4543e-05, 2165.7053, 5.4546], rel=1e-4)
