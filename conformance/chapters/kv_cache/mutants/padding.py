"""Ways to get positions that are given, and rows of other lengths, wrong."""

from dataclasses import replace

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import kv_cache


def placed(change):
    """Return ``step`` with other positions where some are given: change(positions, cache, x)."""

    def step(x, cache, weights, num_heads, member, key_mask=None, positions=None):
        positions = positions if positions is None else change(positions, cache, x)
        return kv_cache.step(x, cache, weights, num_heads, member, key_mask, positions)

    return step


positions_ignored = Mutant(
    "CACHE-positions-ignored",
    story="positions that are given have no effect: tokens are counted",
    breaks={"CACHE-POS-1", "CACHE-RIGHT-1"},
    hint="turn by the positions that are given, and count only where there are none",
    replace={kv_cache.step: placed(lambda positions, cache, x: None)},
)

positions_of_the_first = Mutant(
    "CACHE-positions-of-the-first",
    story="a single new token of each sample stands where that of the first sample does",
    breaks={"CACHE-POS-1", "CACHE-LEFT-1", "CACHE-RIGHT-1"},
    hint="a row of positions for each sample: (B, T)",
    replace={
        kv_cache.step: placed(
            lambda positions, cache, x: (
                positions[:1].expand_as(positions).contiguous() if x.shape[1] == 1 else positions
            )
        )
    },
)

positions_in_the_prompt_alone = Mutant(
    "CACHE-positions-in-the-prompt-alone",
    story="positions are taken in the first chunk, and counted behind it",
    breaks={"CACHE-POS-1", "CACHE-LEFT-1", "CACHE-RIGHT-1"},
    hint="a caller that gives positions gives them in each step",
    replace={kv_cache.step: placed(lambda positions, cache, x: positions if not cache.keys.shape[2] else None)},
)

real_forgotten = Mutant(
    "CACHE-mask-forgotten",
    story="the mask of earlier tokens is forgotten: later tokens see the padding in the cache",
    breaks={"CACHE-LEFT-1", "CACHE-RIGHT-1"},
    hint="keep the mask with the keys, or have the caller's mask cover all S tokens",
    replace={kv_cache.append_real: lambda old, new: torch.cat([torch.ones_like(old), new], dim=1)},
)


def masks_as(change):
    """Return ``step`` with another mask where one is given: change(mask)."""

    def step(x, cache, weights, num_heads, member, key_mask=None, positions=None):
        key_mask = key_mask if key_mask is None else change(key_mask)
        return kv_cache.step(x, cache, weights, num_heads, member, key_mask, positions)

    return step


def as_lengths(mask):
    return torch.arange(mask.shape[1], device=mask.device) < mask.sum(1, keepdim=True)


mask_as_lengths = Mutant(
    "CACHE-mask-as-lengths",
    story="a mask is made into lengths: padding on the left is taken for the row's first tokens",
    breaks={"CACHE-LEFT-1", "CACHE-POS-1"},
    hint="hide what the mask hides, wherever it stands",
    replace={kv_cache.step: masks_as(as_lengths)},
)

mask_from_the_right = Mutant(
    "CACHE-mask-from-the-right",
    story="a mask is made into the number of padded tokens, which are taken to stand on the left",
    breaks={"CACHE-RIGHT-1", "CACHE-POS-1"},
    hint="hide what the mask hides, wherever it stands",
    replace={kv_cache.step: masks_as(lambda mask: as_lengths(mask).flip(1))},
)

mask_of_all_samples = Mutant(
    "CACHE-mask-of-all-samples",
    story="what is padding in one sample is hidden in all",
    breaks={"CACHE-LEFT-1", "CACHE-RIGHT-1"},
    hint="a row of the mask for each sample",
    replace={kv_cache.step: masks_as(lambda mask: mask.all(0, keepdim=True).expand_as(mask))},
)


def counted_in_the_prompt(x, cache, weights, num_heads, member, key_mask=None, positions=None):
    """Turn the first chunk by the places of real tokens, and later ones by the slots of the cache."""
    if positions is None and key_mask is not None and not cache.keys.shape[2]:
        positions = (key_mask.cumsum(1) - 1).clamp(min=0)
    return kv_cache.step(x, cache, weights, num_heads, member, key_mask, positions)


left_padding_in_the_prompt_alone = Mutant(
    "CACHE-left-padding-in-the-prompt-alone",
    story="positions of a prompt padded on the left count its real tokens, and those behind it the padding, too",
    breaks={"CACHE-LEFT-1", "CACHE-POS-1"},
    hint="one way to count for all chunks: slots, or real tokens",
    replace={kv_cache.step: counted_in_the_prompt},
)


def stays_left(cache, keys, values, real):
    """Write what is new of all samples behind the shortest row: where another row has its last tokens."""
    found = kv_cache.extend(cache, keys, values, real)
    short = int(cache.real.sum(1).min()) if cache.real.numel() else cache.real.shape[1]
    if short == cache.real.shape[1] or not cache.real[:, 0].all():
        return found
    seen = found.real.clone()
    seen[:, short : cache.real.shape[1]] = False
    return replace(found, real=seen)


behind_the_shortest = Mutant(
    "CACHE-behind-the-shortest",
    story="new tokens are written behind the shortest row: the last tokens of the others are lost",
    breaks={"CACHE-RIGHT-1"},
    hint="a length for each row: write where that row ends",
    replace={kv_cache.extend: stays_left},
)
