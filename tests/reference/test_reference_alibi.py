"""ALiBi against loops, published slopes, and forms in which other code has it."""

import math

import pytest
import torch

from attnconf.reference.alibi import alibi_attention, bias, distances, geometric, slopes

# Press et al. 2021: the paper names 1/2 … 1/256 for 8 heads, and powers of 2^-0.5 for 16; the others are what the
# published code (fairseq/models/transformer.py, get_slopes) returns.
PUBLISHED = {
    1: [0.00390625],
    2: [0.0625, 0.00390625],
    3: [0.0625, 0.00390625, 0.25],
    4: [0.25, 0.0625, 0.015625, 0.00390625],
    5: [0.25, 0.0625, 0.015625, 0.00390625, 0.5],
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    7: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125, 0.03125],
    8: [2.0**-h for h in range(1, 9)],
    12: [
        *(2.0**-h for h in range(1, 9)),
        0.7071067811865476,
        0.3535533905932738,
        0.1767766952966369,
        0.08838834764831845,
    ],
    16: [2.0 ** (-h / 2) for h in range(1, 17)],
}
SIZES = [(5, 5), (1, 6), (3, 7), (1, 1)]


@pytest.mark.parametrize("heads", PUBLISHED)
def test_slopes_are_the_published_ones_to_one_unit_in_the_last_place(heads):
    got = slopes(heads)
    assert got.shape == (heads,)
    for m, want in zip(got.tolist(), PUBLISHED[heads], strict=True):
        assert abs(m - want) <= math.ulp(want)


def test_slopes_of_forty_heads_go_on_after_the_thirty_second():
    """The published code gives 0.9170040432046712, 0.7711054127039704, … there."""
    want = [2.0 ** (-(2 * n + 1) / 8) for n in range(8)]
    torch.testing.assert_close(slopes(40)[32:], torch.tensor(want, dtype=torch.float64), rtol=1e-15, atol=0)
    assert slopes(40)[32].item() == pytest.approx(0.9170040432046712, rel=1e-15)


@pytest.mark.parametrize("heads", [3, 5, 6, 12, 24, 40])
def test_the_rule_of_mosaic_is_the_published_one(heads):
    """MPT (MosaicML, llm-foundry, gen_slopes): of the next power of two, every other slope first."""
    above = geometric(1 << heads.bit_length())
    torch.testing.assert_close(slopes(heads), torch.cat([above[1::2], above[::2]])[:heads], rtol=1e-15, atol=0)


def test_no_heads_are_refused():
    with pytest.raises(ValueError, match="negative shift"):
        slopes(0)


@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_the_bias_is_the_slope_times_the_tokens_in_between(queries, keys):
    got = bias(6, queries, keys)
    assert got.shape == (6, queries, keys)
    for h, m in enumerate(PUBLISHED[6]):
        for i in range(queries):
            place = keys - queries + i  # of query i among the keys
            assert got[h, i].tolist() == [-m * abs(place - j) for j in range(keys)]


def test_the_distance_is_zero_at_the_own_place():
    assert distances(3, 5).tolist() == [[2, 1, 0, 1, 2], [3, 2, 1, 0, 1], [4, 3, 2, 1, 0]]


def draw(*shape, seed):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def inputs(B=2, H=4, L=5, E=3):
    return [draw(B, H, L, E, seed=seed) for seed in (1, 2, 3)]


def attend_by_loops(q, k, v, causal):
    """Return attention with ALiBi, a query at a time, in pure Python."""
    B, H, L, E = q.shape
    out = torch.zeros_like(q)
    for b in range(B):
        for h in range(H):
            m = 2.0 ** (-8 * (h + 1) / H)
            for i in range(L):
                seen = range(i + 1 if causal else L)
                score = [float(q[b, h, i] @ k[b, h, j]) / math.sqrt(E) - m * abs(i - j) for j in seen]
                total = sum(math.exp(s) for s in score)
                for j in seen:
                    out[b, h, i] += math.exp(score[j]) / total * v[b, h, j]
    return out


@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_that_of_loops(causal):
    q, k, v = inputs()
    torch.testing.assert_close(alibi_attention(q, k, v, causal), attend_by_loops(q, k, v, causal), rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_that_of_torch_with_a_float_mask(causal):
    q, k, v = inputs()
    mask = bias(4, 5, 5)
    if causal:
        mask = mask.masked_fill(torch.ones(5, 5, dtype=torch.bool).triu(1), -math.inf)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask.expand(2, -1, -1, -1))
    torch.testing.assert_close(alibi_attention(q, k, v, causal), want, rtol=0, atol=1e-14)


def test_a_head_without_scores_weighs_by_powers_of_e():
    v = torch.eye(4, dtype=torch.float64).expand(1, 8, 4, 4)
    weights = alibi_attention(torch.zeros_like(v), v, v)
    want = torch.tensor([math.exp(-1.5), math.exp(-1.0), math.exp(-0.5), 1.0], dtype=torch.float64)
    torch.testing.assert_close(weights[0, 0, -1], want / want.sum())


def test_equal_tokens_in_another_order_give_something_else():
    """ALiBi alone breaks the symmetry of attention: without causality, all queries equal, all keys equal."""
    q, k, v = inputs()
    q, k = torch.ones_like(q), torch.ones_like(k)
    moved = v[:, :, [1, 0, 2, 3, 4]]
    assert (alibi_attention(q, k, v, False) - alibi_attention(q, k, moved, False))[:, 0, -1].abs().min() > 1e-3


def test_tokens_that_move_together_keep_their_weights_among_themselves():
    q, k, v = inputs()
    before = [draw(2, 4, 3, 3, seed=seed) for seed in (4, 5, 6)]
    before[1][:] = -1e4 * q.sign()[:, :, :1]  # keys that nobody looks at
    q = q.abs() * q.sign()[:, :, :1]
    want = alibi_attention(q, k, v)
    got = alibi_attention(*(torch.cat([b, x], dim=2) for b, x in zip(before, (q, k, v), strict=True)))
    torch.testing.assert_close(got[:, :, 3:], want)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_attention_keeps_the_dtype(dtype):
    q, k, v = (x.to(dtype) for x in inputs())
    assert alibi_attention(q, k, v).dtype == dtype


def test_keys_that_do_not_fit_are_refused():
    q, k, v = inputs()
    with pytest.raises(ValueError, match="queries are 3 wide, keys 2"):
        alibi_attention(q, k[..., :2], v)
