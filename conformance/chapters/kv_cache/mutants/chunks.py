"""Ways to get chunks wrong: what is kept, and which key a query may look at."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import kv_cache
from attnconf.reference.masks import causal

not_kept = Mutant(
    "CACHE-not-kept",
    story="the cache has the last chunk alone: earlier keys and values are overwritten, not added to",
    breaks={"CACHE-DECODE-1"},
    hint="torch.cat([old, new], dim=2), and hand back what comes of it",
    replace={kv_cache.append: lambda old, new: new, kv_cache.append_real: lambda old, new: new},
)

along_heads = Mutant(
    "CACHE-along-heads",
    story="keys and values are put together along the axis of heads, (B, K, S, D)",
    breaks={"CALL-SHAPE-1"},
    raises={"CALL-SHAPE-1"},
    hint="dim=2, or -2, of (B, K, S, D); dim=1 of (B, S, K, D)",
    replace={kv_cache.append: lambda old, new: new if not old.shape[2] else torch.cat([old, new], dim=1)},
)

along_samples = Mutant(
    "CACHE-along-samples",
    story="keys and values are put together along the axis of samples",
    breaks={"CALL-SHAPE-1"},
    raises={"CALL-SHAPE-1"},
    hint="dim=2, or -2, of (B, K, S, D)",
    replace={kv_cache.append: lambda old, new: new if not old.shape[2] else torch.cat([old, new], dim=0)},
)

first_lost = Mutant(
    "CACHE-first-lost",
    story="the first token leaves the cache with each step, as if it were full",
    breaks={"CACHE-DECODE-1"},
    hint="nothing leaves before max_len tokens are there, or a window has passed them",
    replace={
        kv_cache.append: lambda old, new: torch.cat([old[:, :, 1:], new], dim=2),
        kv_cache.append_real: lambda old, new: torch.cat([old[:, 1:], new], dim=1),
    },
)


def newest_hidden(new, total):
    return causal(new, total, total - new) if new == total else causal(new, total, total - new - 1)


without_itself = Mutant(
    "CACHE-without-itself",
    story="a token that is added to a cache does not see itself: scores are made before its key is in the cache",
    breaks={"CACHE-DECODE-1"},
    hint="first add keys and values of the new tokens, then attend",
    replace={kv_cache.earlier: newest_hidden},
)

top_left = Mutant(
    "CACHE-top-left",
    story="the causal mask begins at the first key: query i of a chunk sees the keys 0 … i, and a single one the first",
    breaks={"CACHE-DECODE-1"},
    hint="tril(diagonal=S - T): query i of T new tokens sees the keys 0 … S - T + i",
    replace={kv_cache.earlier: lambda new, total: causal(new, total)},
    source="pytorch#108108, is_causal=True with more keys than queries",
)


def none_behind(new, total):
    return causal(new, total, 0 if new == total else total)


chunk_without_mask = Mutant(
    "CACHE-chunk-without-mask",
    story="behind a cache there is no causal mask: right for one token, and in a chunk tokens see those behind them",
    breaks={"CACHE-CHUNK-1"},
    hint="is_causal=(T == S) is not enough: T new tokens need a mask (T, S) whose diagonal is S - T",
    replace={kv_cache.earlier: none_behind},
)

chunk_top_left = Mutant(
    "CACHE-chunk-top-left",
    story="a single token sees all, and a chunk of several behind a cache has the causal mask of the first keys",
    breaks={"CACHE-CHUNK-1"},
    hint="tril(diagonal=S - T), whatever T is",
    replace={kv_cache.earlier: lambda new, total: causal(new, total, total if new == 1 else 0)},
)

never_causal = Mutant(
    "CACHE-never-causal",
    story="there is no causal mask in the first chunk: a prompt's tokens see those behind them",
    breaks={"CACHE-CAUSAL-1"},
    hint="a prompt is causal like any other chunk",
    replace={kv_cache.earlier: lambda new, total: causal(new, total, total)},
)


def whole_triangle(new, total):
    return torch.ones(new, total, dtype=torch.bool) if new == total else causal(new, total, total - new)


prompt_not_causal = Mutant(
    "CACHE-prompt-not-causal",
    story="the first chunk is taken for a prefix whose tokens all see one another, as in a prefix language model",
    breaks={"CACHE-CAUSAL-1"},
    hint="a prompt is causal like any other chunk",
    replace={kv_cache.earlier: whole_triangle},
)

in_front = Mutant(
    "CACHE-in-front",
    story="new keys and values are put in front of the old ones: the mask takes one for the other in chunks",
    breaks={"CACHE-CHUNK-1"},
    hint="torch.cat([old, new], dim=2), in this order",
    replace={
        kv_cache.append: lambda old, new: torch.cat([new, old], dim=2),
        kv_cache.append_real: lambda old, new: torch.cat([new, old], dim=1),
    },
)

detached = Mutant(
    "CACHE-detached",
    story="what is kept is detached: later tokens teach the earlier ones nothing",
    breaks={"CACHE-GRAD-1"},
    hint="keep keys and values as they are; whoever wants to cut the graph calls under torch.no_grad()",
    replace={kv_cache.append: lambda old, new: torch.cat([old.detach(), new], dim=2)},
)
