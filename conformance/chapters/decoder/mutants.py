"""Ways to get decoder layers, and stacks of them, wrong: the reference with one thing changed."""

import math
from collections.abc import Callable
from typing import Any

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous
from attnconf.reference import attention, decoder, encoder, feed_forward, masks
from attnconf.reference import multi_head_attention as mha

# The parts that most mutants are made of. A layer is f(x, memory, weights, style, mask, memory_mask).
attend, look = decoder.attend_to_targets, decoder.attend_to_memory
think, normed = encoder.position_wise, encoder.normed
LAYERS = {"pre": decoder.pre_norm_decoder_layer, "post": decoder.post_norm_decoder_layer}


def around(change: Callable[..., Any]) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return both components, called as ``change(config, compute, x, memory, mask, memory_mask)``.

    ``compute(x, memory, mask, memory_mask)`` is the reference, with masks as the reference makes them.
    """

    def made(computed):
        def build(config, weights):
            def compute(x, memory, mask, memory_mask):
                return computed(x, memory, weights, adapter.style_of(config), mask, memory_mask)

            def forward(x, memory, *, key_mask=None, memory_mask=None):
                mask, hidden = adapter.mask_of_targets(x, key_mask), adapter.mask_of_memory(memory_mask)
                return change(config, compute, x, memory, mask, hidden)

            return forward

        return build

    return {adapter.decoder_layer: made(decoder.decoder_layer), adapter.decoder: made(decoder.decoder)}


# -- the call


def look_where_lengths_agree(x, memory, weights, style, mask):
    if x.shape[1] != memory.shape[1]:
        raise ValueError("targets and memory must be as long as each other")
    return look(x, memory, weights, style, mask)


one_length = Mutant(
    "DEC-one-length",
    story="targets and memory must be as long as each other",
    breaks={"CALL-SHAPE-1"},
    raises={"CALL-SHAPE-1"},
    hint="keys and values come from the memory alone: L queries meet S keys",
    replace={look: look_where_lengths_agree},
)


fill_overflows = Mutant(
    "DEC-fill-overflows",
    story="hidden scores are filled with -10⁹, which float16 cannot hold",
    breaks={"DEC-HALF-1"},
    raises={"DEC-HALF-1"},
    hint="fill with -inf, or with torch.finfo(scores.dtype).min",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, -1e9)},
    source="apex#924",
)


def zero_padding(config, compute, x, memory, mask, hidden):
    if hidden is not None and not memory.requires_grad:
        memory.masked_fill_(~hidden[:, 0, 0, :, None], 0.0)
    return compute(x, memory, mask, hidden)


memory_zeroed = Mutant(
    "DEC-memory-zeroed-in-place",
    story="padding is zeroed in the caller's memory",
    breaks={"CALL-IMMUT-1"},
    hint="memory.masked_fill(…), without the underscore, makes a copy",
    replace=around(zero_padding),
)


def remember(of):
    def build(config, weights):
        forward, seen = of(config, weights), []

        def remembering(x, memory, **given):
            seen.append(memory)
            return forward(x, seen[0] if len(seen[0]) == len(x) else memory, **given)

        return remembering

    return build


def remember_of_one_length(of):
    def build(config, weights):
        forward, seen = of(config, weights), {}

        def remembering(x, memory, **given):
            if seen.get("memory") is None or seen["memory"].shape != memory.shape:
                seen["memory"] = memory
            return forward(x, seen["memory"], **given)

        return remembering

    return build


memory_kept = Mutant(
    "DEC-memory-kept",
    story="keys and values are made from the memory of the first call and kept",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one source: empty it when another begins",
    replace={of: remember(of) for of in (adapter.decoder_layer, adapter.decoder)},
    variants=[{of: remember_of_one_length(of) for of in (adapter.decoder_layer, adapter.decoder)}],
)


def look_at_the_first(x, memory, weights, style, mask):
    return look(x, memory[:1].expand_as(memory), weights, style, mask)


first_memory = Mutant(
    "DEC-first-memory",
    story="every sample looks at the memory of the first",
    breaks={"DEC-BATCH-1"},
    hint="memory has a batch axis of its own: no [0]",
    replace={look: look_at_the_first},
)


def attend_along_batch(x, weights, style, mask):
    if not len(x):
        return x
    across = masks.causal(x.shape[0], x.shape[0]).to(x.device)
    return attend(x.transpose(0, 1), weights, style, across).transpose(0, 1)


along_batch = Mutant(
    "DEC-along-batch",
    story="self-attention runs along the batch, as if the sequence came first",
    breaks={"DEC-BATCH-1"},
    hint="nn.MultiheadAttention wants (L, B, E) unless batch_first=True",
    replace={attend: attend_along_batch},
    source="AEMatter#3, tokenlearner#1",
)

fast_path = Mutant(
    "DEC-fast-path",
    story="without gradients a fast path is taken that forgets the memory's mask",
    breaks={"CALL-MODE-1"},
    hint="every path must take the same masks",
    replace={
        adapter.mask_of_memory: lambda memory_mask: (
            masks.key_padding(memory_mask) if memory_mask is not None and torch.is_grad_enabled() else None
        )
    },
)

full_in_training = Mutant(
    "DEC-full-in-training",
    story="in training, where the whole target is known, self-attention is not causal",
    breaks={"CALL-MODE-1"},
    hint="the target is known, the prediction must not use it: causal in training as well",
    replace=around(
        lambda config, compute, x, memory, mask, hidden: compute(
            x, memory, torch.ones_like(mask) if config.training else mask, hidden
        )
    ),
)

# -- the layer


def pre_from_normed(x, memory, weights, style, mask, memory_mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    n = normed(h, weights, "norm2", style)
    h = n + look(n, memory, weights, style, memory_mask)
    n = normed(h, weights, "norm3", style)
    return n + think(n, weights, style)


residual_normed = Mutant(
    "DEC-residual-normed",
    story="in pre-norm the residual is taken after the norm",
    breaks={"DEC-ZERO-1"},
    hint="x + f(norm(x)): the residual is x itself",
    replace={LAYERS["pre"]: pre_from_normed},
    source="pytorch#61165, faster-trajectory-transformer#3, burn#1056",
)


def pre_without_cross_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_without_cross_residual(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


no_cross_residual = Mutant(
    "DEC-no-cross-residual",
    story="what comes from the memory replaces the targets instead of being added",
    breaks={"DEC-ZERO-1", "DEC-ZERO-2"},
    hint="each of the three sublayers has a residual",
    replace={LAYERS["pre"]: pre_without_cross_residual, LAYERS["post"]: post_without_cross_residual},
)


def pre_without_last_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return think(normed(h, weights, "norm3", style), weights, style)


no_last_residual = Mutant(
    "DEC-no-feed-forward-residual",
    story="the feed-forward network of a pre-norm layer has no residual",
    breaks={"DEC-ZERO-1"},
    hint="return h + ff(norm3(h))",
    replace={LAYERS["pre"]: pre_without_last_residual},
)


def post_inside_out(x, memory, weights, style, mask, memory_mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1", style)
    h = h + normed(look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return h + normed(think(h, weights, style), weights, "norm3", style)


sublayer_normed = Mutant(
    "DEC-sublayer-normed",
    story="in post-norm the sublayer is normalized, not the sum: x + norm(f(x))",
    breaks={"DEC-ZERO-2"},
    hint="norm(x + f(x))",
    replace={LAYERS["post"]: post_inside_out},
    source="annotated-transformer#110",
)

orders_swapped = Mutant(
    "DEC-orders-swapped",
    story="norm_first means the opposite",
    breaks={"DEC-ZERO-1", "DEC-ZERO-2"},
    hint="norm_first=True is x + f(norm(x))",
    replace={LAYERS["pre"]: LAYERS["post"], LAYERS["post"]: LAYERS["pre"]},
    source="annotated-transformer#13",
)


def renamed(names: dict[str, str]) -> Callable[..., Any]:
    """Return ``normed`` with the weights of other norms."""

    def norm(x, weights, name, style):
        return normed(x, weights, names.get(name, name), style)

    return norm


norms_swapped = Mutant(
    "DEC-norms-swapped",
    story="norm1 and norm2 are exchanged",
    breaks={"DEC-NORM-1", "DEC-ZERO-2"},
    hint="norm1 stands beside self-attention, norm2 beside the attention to the memory, norm3 beside feed-forward",
    replace={normed: renamed({"norm1": "norm2", "norm2": "norm1"})},
)

one_norm = Mutant(
    "DEC-one-norm",
    story="one norm serves all three sublayers",
    breaks={"DEC-NORM-1", "DEC-ZERO-2", "DEC-GRAD-1"},
    hint="three norms, each with its own gain and shift",
    replace={normed: renamed({"norm2": "norm1", "norm3": "norm1"})},
)


def pre_without_norm2(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(h, memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


no_norm2 = Mutant(
    "DEC-no-norm2",
    story="the queries to the memory are made from targets that are not normalized",
    breaks={"DEC-NORM-1", "DEC-GRAD-1"},
    hint="h + cross(norm2(h), memory)",
    replace={LAYERS["pre"]: pre_without_norm2},
)


def pre_cross_first(x, memory, weights, style, mask, memory_mask):
    h = x + look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    h = h + attend(normed(h, weights, "norm1", style), weights, style, mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_cross_first(x, memory, weights, style, mask, memory_mask):
    h = normed(x + look(x, memory, weights, style, memory_mask), weights, "norm1", style)
    h = normed(h + attend(h, weights, style, mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


cross_first = Mutant(
    "DEC-cross-first",
    story="the attention to the memory comes before self-attention",
    breaks={"DEC-ORDER-1"},
    hint="first the targets among themselves, then the memory",
    replace={LAYERS["pre"]: pre_cross_first, LAYERS["post"]: post_cross_first},
)


def post_cross_first_with_its_norm(x, memory, weights, style, mask, memory_mask):
    h = normed(x + look(x, memory, weights, style, memory_mask), weights, "norm2", style)
    h = normed(h + attend(h, weights, style, mask), weights, "norm1", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


cross_first_with_its_norm = Mutant(
    "DEC-cross-first-with-its-norm",
    story="in post-norm the memory is looked at before the targets, each sublayer with its own norm",
    breaks={"DEC-ZERO-2"},
    hint="self-attention, then attention to the memory, then feed-forward",
    replace={LAYERS["post"]: post_cross_first_with_its_norm},
)


def pre_cross_last(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + think(normed(h, weights, "norm3", style), weights, style)
    return h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)


def post_cross_last(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + think(h, weights, style), weights, "norm2", style)
    return normed(h + look(h, memory, weights, style, memory_mask), weights, "norm3", style)


cross_last = Mutant(
    "DEC-cross-last",
    story="the attention to the memory comes after the feed-forward network",
    breaks={"DEC-ORDER-1"},
    hint="the feed-forward network comes last: it works on what both attentions brought",
    replace={LAYERS["pre"]: pre_cross_last, LAYERS["post"]: post_cross_last},
)


def pre_parallel(x, memory, weights, style, mask, memory_mask):
    first = attend(normed(x, weights, "norm1", style), weights, style, mask)
    second = look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    return x + first + second + think(normed(x, weights, "norm3", style), weights, style)


parallel = Mutant(
    "DEC-parallel",
    story="the sublayers of a pre-norm layer all read the layer's input",
    breaks={"DEC-ORDER-1"},
    hint="each sublayer reads what the one before it made",
    replace={LAYERS["pre"]: pre_parallel},
)


def pre_stale_query(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_stale_query(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + look(x, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


stale_query = Mutant(
    "DEC-stale-query",
    story="the memory is asked by the layer's input, not by what self-attention made of it",
    breaks={"DEC-ORDER-1"},
    hint="the queries are those of h, after self-attention",
    replace={LAYERS["pre"]: pre_stale_query, LAYERS["post"]: post_stale_query},
)


def pre_stale_residual(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = x + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


stale_residual = Mutant(
    "DEC-stale-residual",
    story="the second residual is the layer's input: what self-attention added is lost",
    breaks={"DEC-ORDER-1"},
    hint="add to h, not to x",
    replace={LAYERS["pre"]: pre_stale_residual},
)


def post_reads_normed(x, memory, weights, style, mask, memory_mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    h = normed(h + look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


norm_before_sum = Mutant(
    "DEC-norm-before-sum",
    story="in post-norm the first norm comes before the sublayer and its residual, not after the sum",
    breaks={"DEC-ORDER-1"},
    hint="norm1(x + self(x))",
    replace={LAYERS["post"]: post_reads_normed},
)

no_feed_forward = Mutant(
    "DEC-no-feed-forward",
    story="there is no feed-forward network",
    breaks={"DEC-GRAD-1"},
    hint="a decoder layer has three sublayers",
    replace={think: lambda x, weights, style: torch.zeros_like(x)},
    source="system 3d",
)


def self_for_both(x, memory, weights, style, mask):
    return look(x, memory, {f"cross.{n}": w for n, w in encoder.under(weights, "self").items()}, style, mask)


one_attention = Mutant(
    "DEC-one-attention",
    story="one attention module serves targets and memory",
    breaks={"DEC-KV-1", "DEC-NORM-1", "DEC-GRAD-1"},
    hint="two modules: self-attention and attention to the memory have weights of their own",
    replace={look: self_for_both},
)

# -- the targets


def with_mask(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``mask_of_targets`` with ``make(L)`` in place of the causal mask."""

    def mask_of_targets(x, key_mask):
        mask = make(x.shape[1]).to(x.device)
        return mask if key_mask is None else masks.intersect(mask, masks.key_padding(key_mask))

    return mask_of_targets


def ones(length):
    return torch.ones(length, length, dtype=torch.bool)


not_causal = Mutant(
    "DEC-not-causal",
    story="targets see the targets after them",
    breaks={"DEC-CAUSAL-1"},
    hint="give the decoder's self-attention a causal mask, whatever else it gets",
    replace={adapter.mask_of_targets: with_mask(ones)},
    source="BONSAI#343",
)

one_ahead = Mutant(
    "DEC-one-ahead",
    story="every target sees the one after it",
    breaks={"DEC-CAUSAL-1"},
    hint="tril(diagonal=0)",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril(1))},
)

only_later = Mutant(
    "DEC-only-later",
    story="targets see themselves and the targets after them",
    breaks={"DEC-CAUSAL-1"},
    hint="tril, not triu",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).triu())},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

not_itself = Mutant(
    "DEC-not-itself",
    story="a target sees the targets before it, but not itself",
    breaks={"DEC-CAUSAL-2"},
    hint="tril(diagonal=0): the first target must see something",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril(-1))},
)


def first_sees_all(length):
    mask = ones(length).tril(-1)
    mask[0] = True
    return mask


not_itself_by_filling = Mutant(
    "DEC-not-itself-filled",
    story="a target does not see itself, and the first one, whose scores are all filled with one number, sees all",
    breaks={"DEC-CAUSAL-1"},
    hint="triu(diagonal=1) is what is hidden: the diagonal is seen",
    replace={adapter.mask_of_targets: with_mask(first_sees_all)},
)

window = Mutant(
    "DEC-window",
    story="a target sees no further back than the target before it",
    breaks={"DEC-CAUSAL-2"},
    hint="all targets before it",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril().triu(-1))},
)


def causal_in_first(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        seen = mask if i == 0 else torch.ones_like(mask)
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, seen, memory_mask)
    return decoder.last_norm(x, weights, style)


causal_once = Mutant(
    "DEC-causal-in-first-layer",
    story="only the first layer gets the causal mask",
    breaks={"DEC-CAUSAL-1", "DEC-PAD-1", "DEC-STACK-1"},
    hint="every layer gets the same masks",
    replace={decoder.decoder: causal_in_first},
)


def attend_scaled_by_length(x, weights, style, mask):
    longer = math.log(1 + x.shape[1])
    part = {n: w * longer if n.startswith("self.q.") else w for n, w in weights.items()}
    return attend(x, part, style, mask)


scaled_by_length = Mutant(
    "DEC-scaled-by-length",
    story="scores are multiplied by the logarithm of the number of targets",
    breaks={"DEC-PREFIX-1"},
    hint="a target must not know how many come after it",
    replace={attend: attend_scaled_by_length},
)

padding_ignored = Mutant(
    "DEC-padding-ignored",
    story="key_mask is not used",
    breaks={"DEC-PAD-1"},
    hint="causality hides padding at the end only",
    replace={adapter.mask_of_targets: lambda x, key_mask: masks.causal(x.shape[1], x.shape[1]).to(x.device)},
)

padding_inverted = Mutant(
    "DEC-padding-inverted",
    story="key_mask is taken to be True where a target is padding",
    breaks={"DEC-PAD-1"},
    hint="True = a target",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: adapter.mask_of_targets(x, None if key_mask is None else ~key_mask)
    },
)

padding_of_first = Mutant(
    "DEC-padding-of-first",
    story="the padding of the first sample is used for all",
    breaks={"DEC-PAD-1"},
    hint="key_mask[:, None, None, :] keeps the batch axis",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: adapter.mask_of_targets(
            x, None if key_mask is None else key_mask[:1].expand_as(key_mask)
        )
    },
)

either_mask = Mutant(
    "DEC-either-mask",
    story="a target is seen if causality or padding allows it",
    breaks={"DEC-PAD-1"},
    hint="both must allow it: causal & padding",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: (
            masks.causal(x.shape[1], x.shape[1]).to(x.device)
            if key_mask is None
            else masks.causal(x.shape[1], x.shape[1]).to(x.device) | masks.key_padding(key_mask)
        )
    },
)

padding_replaces = Mutant(
    "DEC-padding-replaces-causality",
    story="where there is a key_mask, there is no causal mask",
    breaks={"DEC-PAD-2"},
    hint="combine both masks",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: (
            masks.causal(x.shape[1], x.shape[1]).to(x.device) if key_mask is None else masks.key_padding(key_mask)
        )
    },
    source="GLM-4-Voice#182",
)

# -- the memory


def look_causally(x, memory, weights, style, mask):
    earlier = masks.causal(x.shape[1], memory.shape[1]).to(x.device)
    return look(x, memory, weights, style, earlier if mask is None else masks.intersect(earlier, mask))


causal_cross = Mutant(
    "DEC-causal-cross",
    story="the attention to the memory is causal, too",
    breaks={"DEC-MEMORY-1"},
    hint="the whole source is known: only self-attention is causal",
    replace={look: look_causally},
    source="TransformerEngine#629",
)

causal_square_cross = Mutant(
    "DEC-causal-square-cross",
    story="where memory and targets are as long as each other, the attention to the memory is causal",
    breaks={"DEC-MEMORY-1"},
    hint="do not infer causality from shapes: the attention to the memory never is",
    replace={
        look: lambda x, memory, weights, style, mask: (
            look_causally(x, memory, weights, style, mask)
            if x.shape[1] == memory.shape[1]
            else look(x, memory, weights, style, mask)
        )
    },
    source="transformers#48172",
)


def look_at_as_many(x, memory, weights, style, mask):
    length = max(x.shape[1], 2)
    return look(x, memory[:, :length], weights, style, None if mask is None else mask[..., :length])


memory_cut = Mutant(
    "DEC-memory-cut",
    story="the memory is cut off at the length of the targets",
    breaks={"DEC-MEMORY-1"},
    hint="the memory has a length of its own",
    replace={look: look_at_as_many},
)

self_fed = Mutant(
    "DEC-self-fed",
    story="keys and values of the second attention come from the targets",
    breaks={"DEC-MEMORY-1", "DEC-PAD-1"},
    hint="cross(h, memory, memory)",
    replace={look: lambda x, memory, weights, style, mask: look_causally(x, x, weights, style, None)},
    source="system 3c",
)


self_fed_unmasked = Mutant(
    "DEC-self-fed-unmasked",
    story="keys and values of the second attention come from the targets, and no mask hides later ones",
    breaks={"DEC-MEMORY-1", "DEC-CAUSAL-1", "DEC-PAD-1"},
    hint="cross(h, memory, memory)",
    replace={look: lambda x, memory, weights, style, mask: look(x, x, weights, style, None)},
)


def look_for_own_values(x, memory, weights, style, mask):
    own = encoder.under(weights, "cross")
    value = x if x.shape[1] == memory.shape[1] else memory
    out, _ = mha.multi_head_attention(x, memory, value, own, style.num_heads, mask, dropout=style.dropout)
    return attention.drop(out, style.dropout)


own_values = Mutant(
    "DEC-own-values",
    story="the values come from the targets, where there are as many as tokens of memory",
    breaks={"DEC-KV-1"},
    hint="keys and values both come from the memory",
    replace={look: look_for_own_values},
)

memory_normed = Mutant(
    "DEC-memory-normed",
    story="every layer normalizes the memory",
    breaks={"DEC-KV-1"},
    hint="the memory has been through the encoder's last norm: use it as it is",
    replace={
        look: lambda x, memory, weights, style, mask: look(
            x, torch.nn.functional.layer_norm(memory, memory.shape[-1:]), weights, style, mask
        )
    },
)


def pre_with_memory_normed(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    keys = normed(memory, weights, "norm2", style)
    h = h + look(normed(h, weights, "norm2", style), keys, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


memory_in_norm2 = Mutant(
    "DEC-memory-in-norm2",
    story="the norm of the queries is applied to the memory as well",
    breaks={"DEC-KV-1", "DEC-NORM-1"},
    hint="cross(norm2(h), memory): the memory has been through the encoder's last norm",
    replace={LAYERS["pre"]: pre_with_memory_normed},
)


def look_by_distance(x, memory, weights, style, mask):
    own, far = encoder.under(weights, "cross"), torch.arange(memory.shape[1]).to(x)
    out, _ = mha.multi_head_attention(
        x, memory, memory, own, style.num_heads, mask, -0.5 * far.expand(1, 1, 1, -1), style.dropout
    )
    return attention.drop(out, style.dropout)


biased_cross = Mutant(
    "DEC-biased-cross",
    story="a bias for positions is added to the scores of the memory as well",
    breaks={"DEC-PERM-1"},
    hint="relative positions belong to self-attention: source and target have no common axis",
    replace={look: look_by_distance},
    source="transformers#4499",
)

memory_mask_ignored = Mutant(
    "DEC-memory-mask-ignored",
    story="memory_mask is not used",
    breaks={"DEC-HIDE-1"},
    hint="pass the source's padding on to the attention to the memory",
    replace={adapter.mask_of_memory: lambda memory_mask: None},
    source="FasterTransformer#270",
)

memory_mask_inverted = Mutant(
    "DEC-memory-mask-inverted",
    story="memory_mask is taken to be True where there is padding",
    breaks={"DEC-HIDE-1"},
    hint="True = a token; torch's key_padding_mask is the opposite",
    replace={
        adapter.mask_of_memory: lambda memory_mask: None if memory_mask is None else masks.key_padding(~memory_mask)
    },
)

memory_mask_of_first = Mutant(
    "DEC-memory-mask-of-first",
    story="the memory's padding of the first sample is used for all",
    breaks={"DEC-HIDE-1"},
    hint="memory_mask[:, None, None, :] keeps the batch axis",
    replace={
        adapter.mask_of_memory: lambda memory_mask: None if memory_mask is None else masks.key_padding(memory_mask[:1])
    },
)


def look_with_weak_fill(x, memory, weights, style, mask):
    own = encoder.under(weights, "cross")
    bias = None if mask is None else torch.where(mask, 0.0, -100.0).to(x)
    out, _ = mha.multi_head_attention(x, memory, memory, own, style.num_heads, None, bias, style.dropout)
    return attention.drop(out, style.dropout)


weak_fill = Mutant(
    "DEC-weak-fill",
    story="padding in the memory is hidden by -100 on its scores",
    breaks={"DEC-HIDE-1"},
    hint="fill with -inf",
    replace={look: look_with_weak_fill},
)


def look_at_zeros(x, memory, weights, style, mask):
    return look(x, memory if mask is None else memory * mask[:, 0, 0, :, None], weights, style, None)


memory_zeros = Mutant(
    "DEC-memory-of-zeros",
    story="padding in the memory is set to 0 instead of being hidden",
    breaks={"DEC-HIDE-1"},
    hint="a key of zeros still gets a weight: mask the scores",
    replace={look: look_at_zeros},
)


def hiding_targets(build):
    def component(config, weights):
        forward = build(config, weights)

        def hide(x, memory, *, key_mask=None, memory_mask=None):
            square = memory_mask is not None and memory_mask.shape == x.shape[:2]
            both = memory_mask if key_mask is None or not square else key_mask & memory_mask
            return forward(x, memory, key_mask=both if square else key_mask, memory_mask=memory_mask)

        return hide

    return component


memory_mask_on_targets = Mutant(
    "DEC-memory-mask-on-targets",
    story="where targets and memory are as long as each other, the memory's mask hides targets as well",
    breaks={"DEC-CAUSAL-2"},
    hint="two masks: the targets' own padding in self-attention, the memory's in the attention to it",
    replace={of: hiding_targets(of) for of in (adapter.decoder_layer, adapter.decoder)},
)


def masks_in_first(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        hidden = memory_mask if i == 0 else None
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, hidden)
    return decoder.last_norm(x, weights, style)


memory_mask_once = Mutant(
    "DEC-memory-mask-in-first-layer",
    story="only the first layer gets the memory's mask",
    breaks={"DEC-HIDE-1"},
    hint="every layer gets the same masks",
    replace={decoder.decoder: masks_in_first},
)


def none_if_any_is_empty(memory_mask):
    return None if memory_mask is None or not memory_mask.any(dim=-1).all() else masks.key_padding(memory_mask)


empty_unmasks = Mutant(
    "DEC-empty-unmasks",
    story="against NaN the mask is dropped where the memory of any sample is all padding",
    breaks={"DEC-EMPTY-1"},
    hint="treat that sample's rows alone",
    replace={adapter.mask_of_memory: none_if_any_is_empty},
)

# -- the stack


def stack(order: Callable[..., Any]) -> Callable[..., Any]:
    """Return a stack that applies the layers ``order(N)``, numbers of layers from 0."""

    def run(x, memory, weights, style, mask, memory_mask=None):
        for i in order(encoder.count_layers(weights)):
            x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        return decoder.last_norm(x, weights, style)

    return run


shared = Mutant(
    "DEC-shared-layer",
    story="all layers have the weights of the first",
    breaks={"DEC-STACK-1"},
    hint="copy.deepcopy for each: [layer] * N is one layer N times",
    replace={decoder.decoder: stack(lambda n: [0] * n)},
    source="encodecmae#3, espnet#1278",
)

reversed_layers = Mutant(
    "DEC-layers-reversed",
    story="the layers are applied last to first",
    breaks={"DEC-STACK-1"},
    hint="layer 0 comes first",
    replace={decoder.decoder: stack(lambda n: reversed(range(n)))},
)

one_less = Mutant(
    "DEC-one-layer-less",
    story="the last of several layers is left out",
    breaks={"DEC-STACK-1"},
    hint="range(num_layers)",
    replace={decoder.decoder: stack(lambda n: range(max(n - 1, 1)))},
    source="continual-inference#70",
)

one_more = Mutant(
    "DEC-one-layer-more",
    story="the last of several layers is applied twice",
    breaks={"DEC-STACK-1"},
    hint="range(num_layers)",
    replace={decoder.decoder: stack(lambda n: [*range(n), n - 1] if n > 1 else [0])},
)


def memory_renewed(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        memory = torch.nn.functional.layer_norm(memory, memory.shape[-1:])
    return decoder.last_norm(x, weights, style)


other_memory = Mutant(
    "DEC-other-memory",
    story="every layer but the first gets the memory normalized",
    breaks={"DEC-STACK-1"},
    hint="all layers see the same memory",
    replace={decoder.decoder: memory_renewed},
)


def outputs_as_memory(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        memory = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        x, memory_mask = memory, None
    return decoder.last_norm(x, weights, style)


output_as_memory = Mutant(
    "DEC-output-as-memory",
    story="every layer but the first reads the output of the layer before it in place of the memory",
    breaks={"DEC-CAUSAL-1", "DEC-PAD-1", "DEC-STACK-1"},
    hint="only x is renewed from layer to layer; the memory stays",
    replace={decoder.decoder: outputs_as_memory},
)

always_normed = Mutant(
    "DEC-always-normed",
    story="a stack without a last norm is normalized all the same",
    breaks={"DEC-STACK-1"},
    hint="no norm where none is declared",
    replace={
        decoder.last_norm: lambda x, weights, style: (
            normed(x, weights, "norm", style)
            if "norm.weight" in weights
            else torch.nn.functional.layer_norm(x, x.shape[-1:])
        )
    },
)

no_last_norm = Mutant(
    "DEC-no-last-norm",
    story="the last norm is missing",
    breaks={"DEC-FINAL-1"},
    hint="a pre-norm stack normalizes nothing at its end unless the last norm does",
    replace={decoder.last_norm: lambda x, weights, style: x},
    source="pytorch#55270",
)

last_norm_twice = Mutant(
    "DEC-last-norm-twice",
    story="the last norm is applied twice",
    breaks={"DEC-FINAL-1"},
    hint="once",
    replace={
        decoder.last_norm: lambda x, weights, style: decoder.last_norm(
            decoder.last_norm(x, weights, style), weights, style
        )
    },
)


def norm_first_of_all(x, memory, weights, style, mask, memory_mask=None):
    x = decoder.last_norm(x, weights, style)
    for i in range(encoder.count_layers(weights)):
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
    return x


last_norm_first = Mutant(
    "DEC-last-norm-first",
    story="the last norm is applied to the targets, before the first layer",
    breaks={"DEC-FINAL-1"},
    hint="after the last layer",
    replace={decoder.decoder: norm_first_of_all},
)

# -- gradients

memory_detached = Mutant(
    "DEC-memory-detached",
    story="the memory is detached: the encoder is not trained",
    breaks={"DEC-GRAD-1"},
    hint="no detach and no no_grad between encoder and decoder",
    replace={look: lambda x, memory, weights, style, mask: look(x, memory.detach(), weights, style, mask)},
)


def look_with_frozen_keys(x, memory, weights, style, mask):
    frozen = {n: w.detach() if n.startswith("cross.k.") else w for n, w in weights.items()}
    return look(x, memory, frozen, style, mask)


keys_frozen = Mutant(
    "DEC-keys-frozen",
    story="the projection of the memory to keys is not trained",
    breaks={"DEC-GRAD-1"},
    hint="cross.k is a parameter like the others",
    replace={look: look_with_frozen_keys},
)


def look_and_leak(x, memory, weights, style, mask):
    out = look(x, memory, weights, style, mask)
    if mask is None:
        return out
    hidden = memory * ~mask[:, 0, 0, :, None]
    return out + 0.1 * (hidden - hidden.detach()).sum(dim=1, keepdim=True)


padding_trained = Mutant(
    "DEC-padding-trained",
    story="a penalty on the padding of the memory leaks into its gradient",
    breaks={"DEC-GRAD-2"},
    hint="what is hidden has gradient 0",
    replace={look: look_and_leak},
)

# -- dropout

drops_always = Mutant(
    "DEC-drops-always",
    story="dropout goes on in evaluation",
    breaks={"DEC-DROP-1"},
    hint="F.dropout drops by default: give it training=self.training",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="nanoGPT#240",
)


def pre_dropping_all(x, memory, weights, style, mask, memory_mask):
    h = attention.drop(x + attend(normed(x, weights, "norm1", style), weights, style, mask), style.dropout)
    h = h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


residual_dropped = Mutant(
    "DEC-residual-dropped",
    story="dropout falls on the sum, and so on the residual",
    breaks={"DEC-DROP-2"},
    hint="x + dropout(f(x))",
    replace={LAYERS["pre"]: pre_dropping_all},
)


def look_without_dropout(x, memory, weights, style, mask):
    out, _ = mha.multi_head_attention(
        x, memory, memory, encoder.under(weights, "cross"), style.num_heads, mask, dropout=style.dropout
    )
    return out


cross_not_dropped = Mutant(
    "DEC-cross-not-dropped",
    story="what comes from the memory is added without dropout",
    breaks={"DEC-DROP-2"},
    hint="dropout on each of the three sublayers, before its residual",
    replace={look: look_without_dropout},
)

# -- precision


def run_coarsely(config, compute, x, memory, mask, hidden):
    if x.dtype == torch.float32:
        return compute(x.bfloat16().float(), memory.bfloat16().float(), mask, hidden).bfloat16().float()
    return compute(x, memory, mask, hidden)


autocast = Mutant(
    "DEC-autocast",
    story="float32 is computed in bfloat16",
    breaks={"DEC-HALF-1"},
    hint="leave autocast to the caller",
    replace=around(run_coarsely),
)

# -- everything at once


def look_unscaled(x, memory, weights, style, mask):
    width = x.shape[-1] // style.num_heads
    part = {n: w * math.sqrt(width) if n.startswith("cross.q.") else w for n, w in weights.items()}
    return look(x, memory, part, style, mask)


cross_unscaled = Mutant(
    "DEC-cross-unscaled",
    story="the scores of the memory are not divided by √(E / heads)",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint='scale both attentions, or declare attention-scale = "none"',
    replace={look: look_unscaled},
)


def exchanged(weights):
    keys, values = weights["cross.k.weight"], weights["cross.v.weight"]
    return {**weights, "cross.k.weight": values, "cross.v.weight": keys}


keys_for_values = Mutant(
    "DEC-keys-for-values",
    story="the projections to keys and to values of the memory are exchanged",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint="in a fused projection of the memory, keys come first",
    replace={look: lambda x, memory, weights, style, mask: look(x, memory, exchanged(weights), style, mask)},
)

another_activation = Mutant(
    "DEC-undeclared-gelu",
    story="the activation is GELU, and nobody says so",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint='use what the configuration says, or declare activation = "gelu"',
    replace={feed_forward.relu: feed_forward.gelu},
)

memory_gradient_halved = Mutant(
    "DEC-memory-gradient-halved",
    story="only half of the gradient reaches the memory",
    breaks={"DEC-ORACLE-1", "DEC-ORACLE-2"},
    hint="leave the gradient to autograd",
    replace={
        look: lambda x, memory, weights, style, mask: look(x, 0.5 * (memory + memory.detach()), weights, style, mask)
    },
)


def project_wide_coarsely(x, weight, bias):
    return mha.project(x if weight.shape[0] % 32 else x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "DEC-wide-in-half",
    story="projections whose width is a multiple of 32 round their inputs to bfloat16",
    breaks={"DEC-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "DEC-DROP-1 DEC-DROP-2", "the same inputs give the same output, whatever the settings"),
    Vacuous(
        NUMBERS,
        "DEC-BATCH-1 DEC-CAUSAL-1 DEC-PREFIX-1 DEC-PAD-1 DEC-PAD-2 DEC-PERM-1 DEC-HIDE-1 DEC-KV-1",
        "an output depends on the target in its own place, or on nothing: not on masks, memory or other targets",
    ),
    Vacuous(NUMBERS, "DEC-NORM-1 DEC-ORDER-1 DEC-STACK-1", "no weight is read, and three times a constant is once"),
    Vacuous(("echo",), "DEC-ZERO-1", "the identity"),
    Vacuous(("random",), "DEC-CAUSAL-2 DEC-MEMORY-1", "noise differs everywhere, as if every token were seen"),
)
