"""Ways to get caches wrong: whose they are, and what becomes of them."""

from dataclasses import replace
from types import SimpleNamespace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, attention_family, kv_cache


def first_for_all(cache, q, weights, member):
    if q.shape[2] == cache.keys.shape[2]:
        return kv_cache.attend_to(cache, q, weights, member)
    one = replace(cache, keys=cache.keys[:1].expand_as(cache.keys), values=cache.values[:1].expand_as(cache.values))
    return kv_cache.attend_to(one, q, weights, member)


one_for_all_samples = Mutant(
    "CACHE-of-the-first-sample",
    story="all samples read the cache of the first",
    breaks={"CACHE-BATCH-1", "CACHE-DECODE-1"},
    hint="the cache has an axis of samples: (B, K, S, D)",
    replace={kv_cache.attend_to: first_for_all},
)


def mixed(cache, q, weights, member):
    """Attend to keys to which a trace of the mean over all samples is added: alike in all chunks."""
    of_all = cache.values.mean(0, keepdim=True)
    return kv_cache.attend_to(replace(cache, values=cache.values + 0.1 * of_all), q, weights, member)


samples_mixed = Mutant(
    "CACHE-samples-mixed",
    story="what is kept is centred over the batch: a sample's output depends on the others",
    breaks={"CACHE-BATCH-1"},
    hint="no statistics over the axis of samples",
    replace={kv_cache.attend_to: mixed},
)


dropping = Mutant(
    "CACHE-drops-while-decoding",
    story="dropout is on while decoding: two equal steps give different outputs",
    breaks={"CALL-FLOAT-1", "CALL-LAYOUT-1", "CALL-MODE-1", "CALL-REPEAT-1"},
    hint="F.dropout(…, training=self.training), and model.eval() before decoding",
    replace={
        kv_cache.attend_to: lambda cache, q, weights, member: attention.drop(
            kv_cache.attend_to(cache, q, weights, member), 0.1
        )
    },
)


def around(change):
    """Return the adapter's function with something around its methods: change(config, methods)."""

    def build(config, weights):
        return change(config, adapter.cached_attention(config, weights))

    return build


def of_one_store(config, own):
    """Keep the tokens of the layer's last sequence in one place, which ``empty`` clears, whatever cache is given."""
    kept = {}

    def empty(batch):
        kept["now"] = own.empty(batch)

    def step(x, cache, **more):
        out, kept["now"] = own.step(x, kept["now"], **more)
        return out, None

    def reorder(cache, order):
        kept["now"] = own.reorder(kept["now"], order)

    def poison(cache):
        kept["now"] = own.poison(kept["now"])

    return SimpleNamespace(empty=empty, step=step, reorder=reorder, poison=poison)


one_store = Mutant(
    "CACHE-in-the-layer",
    story="the cache lies in the layer, and a new sequence clears it: two sequences in turn write into one",
    breaks={"CACHE-FRESH-1"},
    hint="hand the cache in and out; a layer that holds one serves one sequence",
    replace={adapter.cached_attention: around(of_one_store)},
)


def never_cleared(config, own):
    kept = {}

    def empty(batch):
        before = kept.get("now")
        return own.empty(batch) if before is None or len(before.keys) != batch else before

    def step(x, cache, **more):
        out, kept["now"] = own.step(x, cache, **more)
        return out, kept["now"]

    return SimpleNamespace(empty=empty, step=step, reorder=own.reorder, poison=own.poison)


not_cleared = Mutant(
    "CACHE-not-cleared",
    story="a new sequence begins with what the last one left",
    breaks={"CALL-REPEAT-1"},
    hint="empty(batch) returns a new cache each time, and nothing lies in a default argument",
    replace={adapter.cached_attention: around(never_cleared)},
)

grows_in_training = Mutant(
    "CACHE-grows-in-training",
    story="in training the cache is never cleared: it grows with each batch, and batches see earlier ones",
    breaks={"CACHE-TRAIN-1"},
    hint="clear the cache in training, too, or use none there",
    replace={
        adapter.cached_attention: around(lambda config, own: never_cleared(config, own) if config.training else own)
    },
)


def in_place(config, own):
    """Hand back the cache that was given, with the new tokens written into it."""

    def empty(batch):
        return [own.empty(batch)]

    def step(x, cache, **more):
        out, cache[0] = own.step(x, cache[0], **more)
        return out, cache

    def poison(cache):
        return [own.poison(cache[0])]

    return SimpleNamespace(
        empty=empty, step=step, reorder=lambda cache, order: [own.reorder(cache[0], order)], poison=poison
    )


written_into = Mutant(
    "CACHE-written-into",
    story="a step writes into the cache that it was given: what went on from there sees tokens that are not its own",
    breaks={"CACHE-KEEP-1"},
    hint="return a new cache, or declare earlier-cache: consumed",
    replace={adapter.cached_attention: around(in_place)},
)


# -- reordering


not_reordered = Mutant(
    "CACHE-not-reordered",
    story="reordering has no effect",
    breaks={"CACHE-ORDER-1"},
    hint="index_select(0, order) of all that is kept",
    replace={kv_cache.reorder: lambda cache, order: cache},
)

values_not_reordered = Mutant(
    "CACHE-values-not-reordered",
    story="keys are reordered, and values are not",
    breaks={"CACHE-ORDER-1"},
    hint="index_select(0, order) of keys, values and masks",
    replace={kv_cache.reorder: lambda cache, order: replace(cache, keys=kv_cache.pick(cache.keys, order))},
)

mask_not_reordered = Mutant(
    "CACHE-mask-not-reordered",
    story="keys and values are reordered, and what is padding is not",
    breaks={"CACHE-ORDER-1"},
    hint="index_select(0, order) of keys, values and masks",
    replace={kv_cache.reorder: lambda cache, order: replace(kv_cache.reorder(cache, order), real=cache.real)},
)


def back(kept, order):
    there = torch.zeros_like(kept)
    return there.index_copy(0, order, kept)


reordered_backwards = Mutant(
    "CACHE-reordered-backwards",
    story="the order is read the other way round: sample b goes to order[b] instead of coming from there",
    breaks={"CACHE-ORDER-1"},
    hint="new[b] = old[order[b]]: index_select(0, order)",
    replace={kv_cache.pick: back},
)

heads_reordered = Mutant(
    "CACHE-tokens-reordered",
    story="the order is applied along the axis of tokens",
    breaks={"CACHE-ORDER-1"},
    hint="index_select(0, order): samples are the first axis",
    replace={kv_cache.pick: lambda kept, order: kept.index_select(2 if kept.ndim == 4 else 1, order)},
)


# -- what is not used


unused_read = Mutant(
    "CACHE-unused-read",
    story="what is not used is multiplied by a weight of 0: NaN in it becomes NaN in the output",
    breaks={"CACHE-POISON-1"},
    hint="begin with torch.zeros instead of torch.empty, or slice to what is there",
    replace={kv_cache.attend_to: lambda cache, q, weights, member: unblanked(cache, q, weights, member)},
)


def unblanked(cache, q, weights, member):
    heads, new, total = q.shape[1], q.shape[2], cache.keys.shape[2]
    visible = kv_cache.seen(cache, new, member)
    k, v = attention_family.share_keys(cache.keys, heads), attention_family.share_values(cache.values, heads)
    scale = kv_cache.default_scale(q) if member.scale is None else member.scale
    bias = kv_cache.on(q, kv_cache.bias_of(new, total, heads, weights, member))
    scores = kv_cache.score_with_offsets(q, k, scale, weights, member, total - new)
    scores = attention_family.prepare(scores, member.softcap, (bias,), visible)
    weighed = attention_family.weigh_beside(scores, attention_family.sinks_of(member, weights, heads))
    return kv_cache.merge_heads(kv_cache.mix_with_offsets(weighed, v, weights, member, total - new))


def first_of_max(config, own):
    """Keep max_len tokens, and silently drop those before them."""

    def step(x, cache, **more):
        out, cache = own.step(x, cache, **more)
        last = slice(max(cache.keys.shape[2] - config.max_len + 1, 0), None)
        kept = replace(cache, keys=cache.keys[:, :, last], values=cache.values[:, :, last], real=cache.real[:, last])
        return out, kept

    return SimpleNamespace(empty=own.empty, step=step, reorder=own.reorder, poison=own.poison)


silently_dropped = Mutant(
    "CACHE-silently-dropped",
    story="beyond max_len the first tokens are dropped, silently",
    breaks={"CACHE-BEYOND-1"},
    hint="raise an error where a cache is full",
    replace={adapter.cached_attention: around(first_of_max)},
)


# -- alike in all chunks


def values_turned(cache, q, weights, member):
    if member.positions != "rotary":
        return kv_cache.attend_to(cache, q, weights, member)
    places = torch.arange(cache.values.shape[2], device=q.device)
    return kv_cache.attend_to(replace(cache, values=kv_cache.turn_at(cache.values, places, member)), q, weights, member)


values_are_turned = Mutant(
    "CACHE-values-turned",
    story="values are turned as keys are, in all chunks alike",
    breaks={"CACHE-ORACLE-1", "CACHE-POS-1", "CACHE-LEFT-1", "CACHE-RIGHT-1"},
    hint="turn queries and keys, not values",
    replace={kv_cache.attend_to: values_turned},
)

model_wide_scale = Mutant(
    "CACHE-scaled-by-the-model",
    story="the scores are divided by the root of the model's width, in all chunks alike",
    breaks={"CACHE-ORACLE-1"},
    hint="1/√D, D the width of one head",
    replace={
        kv_cache.attend_to: lambda cache, q, weights, member: kv_cache.attend_to(
            cache, q / q.shape[1] ** 0.5 if member.scale is None else q, weights, member
        )
    },
)
