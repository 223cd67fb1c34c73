"""The reference's adapter: what the contract's words mean in terms of attend and multi_head_attention."""

import numpy as np
import pytest
import torch

from attnconf.adapters import reference as adapter
from attnconf.adapters.contract import COMPONENTS, CONVENTIONS, AttentionConfig, MultiHeadAttentionConfig
from attnconf.reference.attention import attend
from attnconf.reference.multi_head_attention import multi_head_attention

B, H, L, S, D = 2, 3, 5, 7, 4
WIDTHS = {"embed_dim": 6, "num_heads": H, "head_dim": D, "key_dim": 8, "value_dim": 9, "out_dim": 10}


def draw(*shape, seed):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


KEY_MASK = torch.tensor([[True] * 6 + [False], [False] + [True] * 5 + [False]])
ATTN_MASK = torch.rand(1, H, L, S, generator=torch.Generator().manual_seed(7)) < 0.7
BIAS = draw(B, H, L, S, seed=8)
WEIGHTS = {
    "q.weight": draw(H * D, 6, seed=11),
    "k.weight": draw(H * D, 8, seed=12),
    "v.weight": draw(H * D, 9, seed=13),
    "out.weight": draw(10, H * D, seed=14),
    "q.bias": draw(H * D, seed=15),
    "k.bias": draw(H * D, seed=16),
    "v.bias": draw(H * D, seed=17),
    "out.bias": draw(10, seed=18),
}
MASKS = {
    "none": {},
    "key_mask": {"key_mask": KEY_MASK},
    "attn_mask": {"attn_mask": ATTN_MASK},
    "both": {"key_mask": KEY_MASK, "attn_mask": ATTN_MASK},
}


def allowed(causal, key_mask=None, attn_mask=None):
    """Return (B, H, L, S): what all the masks allow, asked one query and key at a time."""
    mask = np.ones((B, H, L, S), dtype=bool)
    for b, h, i, j in np.ndindex(B, H, L, S):
        answers = [j <= i or not causal]
        answers += [] if key_mask is None else [bool(key_mask[b, j])]
        answers += [] if attn_mask is None else [bool(attn_mask[0, h, i, j])]
        mask[b, h, i, j] = all(answers)
    return torch.from_numpy(mask)


def attention_of(causal=False, **rest):
    """Return the adapter's attention, the function it should be, and their inputs."""
    inputs = [draw(B, H, L, 6, seed=1), draw(B, H, S, 6, seed=2), draw(B, H, S, 8, seed=3)]
    forward = adapter.attention(AttentionConfig(causal=causal, **rest), {})
    return forward, lambda **options: attend(*inputs, scale=rest.get("scale"), **options), inputs


def multi_head_of(causal=False, **rest):
    inputs = [draw(B, L, 6, seed=1), draw(B, S, 8, seed=2), draw(B, S, 9, seed=3)]
    forward = adapter.multi_head_attention(MultiHeadAttentionConfig(**WIDTHS, causal=causal, **rest), WEIGHTS)
    return forward, lambda **options: multi_head_attention(*inputs, WEIGHTS, H, **options), inputs


BUILD = {"attention": attention_of, "multi_head_attention": multi_head_of}
every_component = pytest.mark.parametrize("build", BUILD.values(), ids=BUILD)


def assert_same(got, want):
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


@every_component
@pytest.mark.parametrize("causal", [False, True], ids=["bidirectional", "causal"])
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_a_key_is_seen_if_every_mask_allows_it(build, causal, masks):
    forward, function, inputs = build(causal)
    assert_same(forward(*inputs, **masks, need_weights=True), function(mask=allowed(causal, **masks)))


@every_component
def test_attn_bias_is_added_to_the_scores(build):
    forward, function, inputs = build()
    assert_same(forward(*inputs, attn_bias=BIAS, need_weights=True), function(bias=BIAS))


def test_the_scale_is_passed_on():
    forward, function, inputs = attention_of(scale=-0.3)
    assert_same(forward(*inputs, need_weights=True), function())


@every_component
def test_weights_come_only_when_asked_for_and_change_nothing(build):
    forward, _, inputs = build()
    alone = forward(*inputs)
    assert isinstance(alone, torch.Tensor)
    out, weights = forward(*inputs, need_weights=True)
    assert torch.equal(out, alone)
    assert weights.shape == (B, H, L, S)


@every_component
def test_dropout_is_in_force_in_training_only(build):
    evaluated, function, inputs = build(dropout=0.5)
    assert_same(evaluated(*inputs, need_weights=True), function())
    trained, _, _ = build(dropout=0.5, training=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        out, weights = trained(*inputs, need_weights=True)
        torch.manual_seed(5)
        assert_same((out, weights), function(dropout=0.5))
    assert (weights == 0.0).any()


def test_the_adapter_offers_every_component_and_declares_within_the_conventions():
    for component in COMPONENTS:
        assert callable(getattr(adapter, component))
    for convention, choice in adapter.declares.items():
        assert choice in CONVENTIONS[convention]
