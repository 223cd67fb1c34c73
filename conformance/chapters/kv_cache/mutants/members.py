"""Ways to get steps wrong with more of the family inside."""

from dataclasses import replace

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family, kv_cache


def attending(change):
    """Return ``attend_to`` in which a later step, of fewer queries than keys, has another member: change(member)."""

    def attend_to(cache, q, weights, member):
        later = q.shape[2] < cache.keys.shape[2]
        return kv_cache.attend_to(cache, q, weights, change(member) if later else member)

    return attend_to


def cached(change):
    """Return ``attend_to`` on changed keys and values: change(x, heads), where they are shared."""

    def attend_to(cache, q, weights, member):
        if q.shape[2] == cache.keys.shape[2] or cache.keys.shape[1] in (1, q.shape[1]):
            return kv_cache.attend_to(cache, q, weights, member)
        wide = replace(cache, keys=change(cache.keys, q.shape[1]), values=change(cache.values, q.shape[1]))
        return kv_cache.attend_to(wide, q, weights, member)

    return attend_to


groups_in_turn = Mutant(
    "CACHE-groups-in-turn",
    story="shared heads are repeated in turn, 0 1 0 1, behind a cache, and side by side in the first chunk",
    breaks={"CACHE-GROUP-1"},
    hint="one function that shares out heads, for both: repeat_interleave(H // K, dim=1)",
    replace={kv_cache.attend_to: cached(lambda x, heads: x.repeat(1, heads // x.shape[1], 1, 1))},
)

group_of_first = Mutant(
    "CACHE-group-of-first",
    story="behind a cache all heads read the first of the shared heads",
    breaks={"CACHE-GROUP-1"},
    hint="share out all K heads of the cache",
    replace={kv_cache.attend_to: cached(lambda x, heads: x[:, :1])},
)

cap_forgotten = Mutant(
    "CACHE-cap-forgotten",
    story="the soft cap is left out behind a cache",
    breaks={"CACHE-CAP-1"},
    hint="the same scores in each step: cap, bias, mask, softmax",
    replace={kv_cache.attend_to: attending(lambda member: replace(member, softcap=None))},
)

sink_forgotten = Mutant(
    "CACHE-sink-forgotten",
    story="the sink is left out behind a cache",
    breaks={"CACHE-SINK-1"},
    hint="the sink stands beside the scores of each step",
    replace={kv_cache.attend_to: attending(lambda member: replace(member, sinks="none"))},
)


def with_a_sink_each(scores, sinks):
    """Return weights beside one sink for each chunk: one more than one where queries are fewer than keys."""
    if sinks is None or scores.shape[-2] == scores.shape[-1]:
        return attention_family.weigh_beside(scores, sinks)
    two = torch.log(torch.tensor(2.0))
    return attention_family.weigh_beside(scores, sinks + two.to(sinks))


sink_twice = Mutant(
    "CACHE-sink-twice",
    story="the sink is kept among the keys with each chunk, and counts once for each",
    breaks={"CACHE-SINK-1"},
    hint="Σ e^s + e^z: the sink once in each row, and not in the cache",
    replace={attention_family.weigh_beside: with_a_sink_each},
)


def keys_not_normalized(x, weights, num_heads, member, positions):
    plain = replace(member, qk_norm="none") if x.shape[1] == 1 else member
    return kv_cache.new_keys(x, weights, num_heads, plain, positions)


norm_forgotten = Mutant(
    "CACHE-norm-forgotten",
    story="the key of a single new token is kept without its norm",
    breaks={"CACHE-NORM-1"},
    hint="project, normalize, turn, and then keep",
    replace={kv_cache.new_keys: keys_not_normalized},
)


def norm_of_kept(x, weights, num_heads, member, positions):
    if member.qk_norm == "none" or x.shape[1] > 1:
        return kv_cache.new_queries(x, weights, num_heads, member, positions)
    return kv_cache.new_queries(x, weights, num_heads, replace(member, qk_norm="none"), positions)


norm_of_queries_forgotten = Mutant(
    "CACHE-query-norm-forgotten",
    story="the query of a single new token goes without its norm",
    breaks={"CACHE-NORM-1"},
    hint="the same for one token as for many",
    replace={kv_cache.new_queries: norm_of_kept},
)


# -- windows


window_forgotten = Mutant(
    "CACHE-window-forgotten",
    story="behind a cache the window is left out: all that is kept is seen",
    breaks={"CACHE-WINDOW-1"},
    hint="keep the last keys only, or hide the others in each step",
    replace={kv_cache.attend_to: attending(lambda member: replace(member, window=None))},
)


def one_more(new, total, left):
    return kv_cache.near(new, total, left if left is None or new == total else left + 1)


def one_less(new, total, left):
    return kv_cache.near(new, total, left if left is None or new == total else left - 1)


window_wide = Mutant(
    "CACHE-window-wide",
    story="a ring of l + 2 slots: behind a cache the window is one key too wide",
    breaks={"CACHE-WINDOW-1"},
    hint="a window (l, 0) is l keys and the query's own: l + 1 slots",
    replace={kv_cache.near: one_more},
)

window_narrow = Mutant(
    "CACHE-window-narrow",
    story="a ring of l slots: behind a cache the window is one key too narrow",
    breaks={"CACHE-WINDOW-1"},
    hint="a window (l, 0) is l keys and the query's own: l + 1 slots",
    replace={kv_cache.near: one_less},
)


def cut_before(new, total, left):
    """Return what is seen of keys that were cut to the ring before the chunk attended."""
    found = kv_cache.near(new, total, left)
    if left is None or new == total:
        return found
    return found & (torch.arange(total) >= total - (left + 1))


evicted_early = Mutant(
    "CACHE-evicted-early",
    story="keys are cut to the window of a chunk's last token before its first tokens have seen theirs",
    breaks={"CACHE-WINDOW-1"},
    hint="attend first, then drop what the next token does not see",
    replace={kv_cache.near: cut_before},
)


def of_the_chunk(new, total, left):
    """Return which keys a window counted from the chunk's first token allows."""
    if left is None or new == total:
        return kv_cache.near(new, total, left)
    return (torch.arange(total) >= total - new - left).expand(new, total)


window_of_the_chunk = Mutant(
    "CACHE-window-of-the-chunk",
    story="all tokens of a chunk have the window of its first",
    breaks={"CACHE-WINDOW-1"},
    hint="count from each query's own place",
    replace={kv_cache.near: of_the_chunk},
)


def first_kept(new, total, left):
    """Return what is seen of a ring that was filled by a prompt from its front, and never went round."""
    if left is None or new == total:
        return kv_cache.near(new, total, left)
    at = torch.arange(total)
    prompt = total - new
    ring = (at <= left) if prompt > left + 1 else (at < prompt)
    return (ring | (at >= prompt)).expand(new, total)


ring_not_turned = Mutant(
    "CACHE-ring-not-turned",
    story="of a prompt longer than the ring its first keys are kept, not its last",
    breaks={"CACHE-WINDOW-1"},
    hint="keep keys[-(l + 1):], each in the slot of its place: place mod (l + 1)",
    replace={kv_cache.near: first_kept},
)
