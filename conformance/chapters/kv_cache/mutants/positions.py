"""Ways to get the places of new tokens wrong: rotations, slopes and buckets."""

from dataclasses import replace

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import alibi, kv_cache, relative_bias
from attnconf.reference import attention_family as family


def from_zero(cache, x):
    return torch.arange(x.shape[1], device=x.device)


offset_forgotten = Mutant(
    "CACHE-offset-forgotten",
    story="new tokens are turned as if they stood at 0, 1, …: the offset is forgotten",
    breaks={"CACHE-ROTARY-1"},
    hint="the first new token stands at the number of tokens in the cache",
    replace={kv_cache.next_places: from_zero},
)

offset_off_by_one = Mutant(
    "CACHE-offset-off-by-one",
    story="new tokens are turned one place too far on, behind a cache",
    breaks={"CACHE-ROTARY-1"},
    hint="the first token is at place 0: with S tokens kept, the next is at S",
    replace={kv_cache.next_places: lambda cache, x: kv_cache.next_places(cache, x) + (1 if cache.keys.shape[2] else 0)},
)

all_at_the_end = Mutant(
    "CACHE-all-at-the-end",
    story="all tokens of a chunk are turned as its last: one number for a row of positions",
    breaks={"CACHE-ROTARY-1"},
    hint="arange(S - T, S), a position for each token",
    replace={
        kv_cache.next_places: lambda cache, x: (
            kv_cache.next_places(cache, x)
            if not cache.keys.shape[2]
            else kv_cache.next_places(cache, x)[-1:].expand(x.shape[1])
        )
    },
)


def turned_again(cache, q, weights, member):
    """Attend to keys that are turned once more when they are read, but for the new ones."""
    old = cache.keys.shape[2] - q.shape[2]
    if member.positions != "rotary" or not old:
        return kv_cache.attend_to(cache, q, weights, member)
    again = kv_cache.turn_at(cache.keys[:, :, :old], torch.arange(old, device=q.device), member)
    twice = replace(cache, keys=torch.cat([again, cache.keys[:, :, old:]], dim=2))
    return kv_cache.attend_to(twice, q, weights, member)


turned_twice = Mutant(
    "CACHE-turned-twice",
    story="keys from the cache are turned once more with each step",
    breaks={"CACHE-ROTARY-1"},
    hint="turn keys before they are kept, or whenever they are read, and not both",
    replace={kv_cache.attend_to: turned_again},
)


def keys_as_they_are(x, weights, num_heads, member, positions):
    plain = member if member.positions != "rotary" or x.shape[1] > 1 else replace(member, positions="none")
    return kv_cache.new_keys(x, weights, num_heads, plain, positions)


kept_before_turning = Mutant(
    "CACHE-kept-before-turning",
    story="a single new key is kept before it is turned, and read as if it had been",
    breaks={"CACHE-ROTARY-1"},
    hint="turn keys before they are kept, or whenever they are read",
    replace={kv_cache.new_keys: keys_as_they_are},
)


def slopes_from_the_front(heads, new, total):
    i, j = torch.arange(new, dtype=torch.float64), torch.arange(total, dtype=torch.float64)
    return -torch.einsum("h,ls->hls", alibi.slopes(heads), (i[:, None] - j).abs())


slopes_top_left = Mutant(
    "CACHE-slopes-top-left",
    story="ALiBi counts distances from the first keys: the offset of new tokens is forgotten",
    breaks={"CACHE-SLOPE-1"},
    hint="the last query stands at the last key",
    replace={kv_cache.slope_bias: slopes_from_the_front},
)

buckets_top_left = Mutant(
    "CACHE-buckets-top-left",
    story="relative biases count distances from the first keys: the offset of new tokens is forgotten",
    breaks={"CACHE-RELATIVE-1"},
    hint="bucket(j - (S - T + i)): compute for all S, and take the last T rows",
    replace={
        kv_cache.bucket_bias: lambda table, new, total: relative_bias.bias(table, new, total, bidirectional=False)
    },
)

bias_of_the_first_row = Mutant(
    "CACHE-bias-of-the-last-row",
    story="the relative bias of the last query stands for all queries of a chunk",
    breaks={"CACHE-RELATIVE-1"},
    hint="position_bias[:, -T:], not [:, -1:]",
    replace={
        kv_cache.bucket_bias: lambda table, new, total: (
            kv_cache.bucket_bias(table, new, total) if new == total else kv_cache.bucket_bias(table, 1, total)
        )
    },
)

offsets_top_left = Mutant(
    "CACHE-offsets-top-left",
    story="vectors of offsets count from the first keys: that new tokens stand behind the cache is forgotten",
    breaks={"CACHE-SHAW-1"},
    hint="key minus query, where the first of T new tokens is at S - T",
    replace={
        family.score_with_offsets: lambda q, k, scale, weights, member, begin: family.score_with_offsets(
            q, k, scale, weights, member
        )
    },
    variants=[
        {
            family.mix_with_offsets: lambda attention, v, weights, member, begin: family.mix_with_offsets(
                attention, v, weights, member
            )
        }
    ],
)
