"""T5's relative bias against loops, and against the buckets that its published code gives."""

import math

import numpy as np
import pytest
import torch

from attnconf.reference.relative_bias import bias, bucket, bucket_of_distance, relative, relative_bias_attention

# What _relative_position_bucket of the published code (mesh-tensorflow; also transformers, t5x) returns, by
# (buckets, max_distance): the first distance of each bucket of one direction, where each is used, …
FIRST = {
    (16, 128): [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91],
    (32, 128): [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113],
}
# … and for 12 buckets and 10 tokens all of them.
BOTH_12_10 = [5, 5, 5, 5, 4, 4, 3, 3, 2, 1, 0, 7, 8, 9, 9, 10, 10, 11, 11, 11, 11]  # key - query = -10 … 10
ONE_12_10 = [11, 11, 11, 10, 9, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]  # key - query = -12 … 2


@pytest.mark.parametrize(("buckets", "longest"), FIRST)
def test_buckets_begin_where_the_published_code_lets_them(buckets, longest):
    found = bucket_of_distance(torch.arange(300), buckets, longest).tolist()
    assert [found.index(n) for n in range(buckets)] == FIRST[buckets, longest]
    assert found == sorted(found)


def test_all_buckets_of_twelve_for_ten_tokens():
    assert bucket(torch.arange(-10, 11), 12, 10, True).tolist() == BOTH_12_10
    assert bucket(torch.arange(-12, 3), 12, 10, False).tolist() == ONE_12_10


def bucket_by_loops(r, buckets, longest, both):
    """Return the bucket of one relative position, with the logarithm in float32 as most code takes it."""
    base, n = 0, buckets
    if both:
        n //= 2
        base = n if r > 0 else 0
        d = abs(r)
    else:
        d = max(-r, 0)
    exact = n // 2
    if d < exact:
        return base + d
    ratio = np.log(np.float32(d) / np.float32(exact)) / np.float32(math.log(longest / exact))
    return base + min(n - 1, exact + int(ratio * np.float32(n - exact)))


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (12, 10), (20, 50), (64, 256)])
def test_buckets_are_those_of_float32_loops(buckets, longest, both):
    offsets = range(-300, 301)
    got = bucket(torch.tensor(offsets), buckets, longest, both).tolist()
    assert got == [bucket_by_loops(r, buckets, longest, both) for r in offsets]


@pytest.mark.parametrize(("buckets", "longest"), [(1, 128), (32, 16), (32, 8)])
def test_sizes_without_room_for_a_logarithm_are_refused(buckets, longest):
    with pytest.raises(ValueError, match="buckets would be exact"):
        bucket_of_distance(torch.arange(5), buckets, longest)


def test_relative_is_key_minus_query():
    assert relative(2, 4).tolist() == [[0, 1, 2, 3], [-1, 0, 1, 2]]


def draw(*shape, seed):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("queries", "keys"), [(40, 40), (3, 7), (7, 3), (1, 5)])
def test_the_bias_is_the_entry_of_the_bucket(queries, keys, both):
    table = draw(32, 3, seed=0)
    got = bias(table, queries, keys, 128, both)
    for h, i, j in np.ndindex(3, queries, keys):
        assert got[h, i, j] == table[bucket_by_loops(j - i, 32, 128, both), h]


@pytest.mark.parametrize("both", [True, False])
def test_the_gradient_of_the_table_counts_the_pairs_in_each_bucket(both):
    table = draw(32, 3, seed=0).requires_grad_()
    bias(table, 40, 30, 128, both).sum().backward()
    counts = [0] * 32
    for i, j in np.ndindex(40, 30):
        counts[bucket_by_loops(j - i, 32, 128, both)] += 1
    assert table.grad is not None
    assert table.grad.T.tolist() == [counts] * 3
    assert 0 in counts


def inputs(L=6, S=6, B=2, H=3, E=4):
    return draw(B, H, L, E, seed=1), draw(B, H, S, E, seed=2), draw(B, H, S, E, seed=3)


def attend_by_loops(q, k, v, table, causal):
    out = torch.zeros_like(q)
    for b, h, i in np.ndindex(*q.shape[:3]):
        seen = range(i + 1 if causal else k.shape[2])
        score = [float(q[b, h, i] @ k[b, h, j]) for j in seen]
        if table is not None:
            score = [s + float(table[bucket_by_loops(j - i, 32, 128, not causal), h]) for j, s in enumerate(score)]
        total = sum(math.exp(s) for s in score)
        for j in seen:
            out[b, h, i] += math.exp(score[j]) / total * v[b, h, j]
    return out


@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_that_of_loops(causal):
    q, k, v = inputs()
    table = draw(32, 3, seed=4)
    got = relative_bias_attention(q, k, v, table, causal=causal)
    torch.testing.assert_close(got, attend_by_loops(q, k, v, table, causal), rtol=0, atol=1e-14)


def test_attention_to_another_sequence_has_no_bias_and_no_scale():
    q, k, v = inputs(S=5)
    got = relative_bias_attention(q, k, v, None)
    torch.testing.assert_close(got, attend_by_loops(q, k, v, None, False), rtol=0, atol=1e-14)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_the_dtype_is_kept(dtype):
    table = draw(32, 3, seed=4).to(dtype)
    assert bias(table, 4, 5).dtype == dtype
    assert relative_bias_attention(*(x.to(dtype) for x in inputs()), table).dtype == dtype


@pytest.mark.parametrize("heads", [1, 2])
def test_a_table_for_another_number_of_heads_is_refused(heads):
    with pytest.raises(ValueError, match=f"the table is for {heads} heads, the queries have 3"):
        relative_bias_attention(*inputs(), draw(32, heads, seed=4))
