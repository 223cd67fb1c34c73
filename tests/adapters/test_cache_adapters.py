"""The shipped adapters of attention with a cache against the formula for whole sequences, without the suite."""

from dataclasses import replace

import pytest
import torch
from shipped import shipped

from attnconf.adapters.contract import CachedAttentionConfig
from attnconf.conformance.engine.translations.attention import in_pairs
from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.masks import causal

torch.set_num_threads(1)
NAMES = ("ring_cache", "transformers_cache")
CONFIG = CachedAttentionConfig(32, 4, 8, 32, 32, 32, bias=False, causal=True, num_kv_heads=2, positions="rotary")
FLOAT32 = 1e-6  # transformers' angles


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights():
    return {
        f"{n}.weight": numbers(rows, 32, seed=i) / 5
        for i, (n, rows) in enumerate(zip(("q", "k", "v", "out"), (32, 16, 16, 32), strict=True))
    }


def in_steps(name, config, x, chunks, **beside):
    layer = shipped(name).components["cached_attention"](config, weights())
    cache, outs, at = layer.empty(len(x)), [], 0
    for length in chunks:
        part = slice(at, at + length)
        out, cache = layer.step(x[:, part], cache, **{n: m[:, part] for n, m in beside.items()})
        outs.append(out)
        at += length
    return torch.cat(outs, dim=1)


def whole(config, x):
    member = Member(num_kv_heads=2, positions="rotary", window=config.window)
    paired = in_pairs(weights(), 8)  # both pair feature i with i + D/2
    return family_attention(x, x, x, paired, 4, member, causal(x.shape[1], x.shape[1]))[0]


@pytest.mark.parametrize("chunks", [(9,), (1,) * 9, (5, 3, 1)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_chunks_give_what_the_formula_gives_the_whole(name, chunks):
    x = numbers(2, 9, 32, seed=7)
    torch.testing.assert_close(in_steps(name, CONFIG, x, chunks), whole(CONFIG, x), rtol=0, atol=FLOAT32)


@pytest.mark.parametrize("chunks", [(19,), (1,) * 19, (11, 1, 1, 4, 2)], ids=str)
def test_a_ring_goes_round(chunks):
    config, x = replace(CONFIG, window=(3, 0)), numbers(2, 19, 32, seed=8)
    torch.testing.assert_close(in_steps("ring_cache", config, x, chunks), whole(config, x), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_is_padded_on_the_left_is_as_alone(name):
    x = numbers(2, 7, 32, seed=9)
    mask = torch.arange(7) >= torch.tensor([[0], [3]])
    got = in_steps(name, CONFIG, x, (5, 1, 1), key_mask=mask)
    torch.testing.assert_close(got[1:, 3:], whole(CONFIG, x[1:, 3:]), rtol=0, atol=FLOAT32)


def test_a_ring_without_a_window_is_full_at_max_len():
    x = numbers(1, 5, 32)
    with pytest.raises(ValueError, match="4 tokens and 1 more do not fit into 4 slots"):
        in_steps("ring_cache", replace(CONFIG, max_len=4), x, (4, 1))
