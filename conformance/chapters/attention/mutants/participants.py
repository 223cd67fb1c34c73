"""Ways to get scaled dot-product attention wrong: which keys and queries take part."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention


def keep_first(n):
    def score(q, k, scale):
        scores = attention.score(q, k, scale)
        return torch.cat([scores[..., :n], torch.full_like(scores[..., n:], float("-inf"))], dim=-1)

    return score


keys_past_32 = Mutant(
    "ATT-keys-past-32",
    story="keys past the 32nd are dropped",
    breaks={"ATT-LONG-1"},
    hint="loop over all tiles of keys",
    replace={attention.score: keep_first(32)},
    source="survives ONNX's Attention cases",
)

keys_past_64 = Mutant(
    "ATT-keys-past-64",
    story="keys past the 64th are dropped",
    breaks={"ATT-LONG-1"},
    hint="loop over all tiles of keys",
    replace={attention.score: keep_first(64)},
    source="survives ONNX's Attention cases",
)


keys_past_1024 = Mutant(
    "ATT-keys-past-1024",
    story="of many keys the first are read alone: 1024, say",
    breaks={"ATT-LONG-2"},
    hint="loop over all blocks of keys, however many there are",
    replace={attention.score: keep_first(1024)},
    variants=[{attention.score: keep_first(n)} for n in (131, 512, 2048)],
)

queries_past_1024 = Mutant(
    "ATT-queries-past-1024",
    story="rows past the 1024th query stay zero",
    breaks={"ATT-LONG-2"},
    hint="a grid of blocks covers all queries: round their number up",
    replace={
        attention.mix: lambda weights, v: (
            attention.mix(weights, v) * (torch.arange(weights.shape[-2]) < 1024)[:, None].to(v)
        )
    },
)


def of_first_features(n):
    return {attention.score: lambda q, k, scale: attention.score(q[..., :n], k[..., :n], scale)}


features_past_64 = Mutant(
    "ATT-features-past-64",
    story="of wide queries and keys the first features are read alone: 64, say",
    breaks={"ATT-WIDE-1"},
    hint="a block holds a whole head: choose its width from the head's",
    replace=of_first_features(64),
    variants=[of_first_features(n) for n in (16, 32, 128)],
)

value_features_past_128 = Mutant(
    "ATT-value-features-past-128",
    story="features of values past the 128th stay zero",
    breaks={"ATT-WIDE-1"},
    hint="a block holds a whole head: choose its width from that of the values",
    replace={attention.mix: lambda weights, v: attention.mix(weights, v) * (torch.arange(v.shape[-1]) < 128).to(v)},
)


def keep_whole_tiles(size):
    def score(q, k, scale):
        return keep_first(max(1, k.shape[-2] // size) * size)(q, k, scale)

    return {attention.score: score}


last_tile_of_keys = Mutant(
    "ATT-last-tile-dropped",
    story="keys are read in tiles, of 16 say, and the last, shorter tile is dropped",
    breaks={"ATT-LONG-1"},
    hint="round the number of tiles up: range(0, S, size), not range(S // size)",
    replace=keep_whole_tiles(16),
    variants=[keep_whole_tiles(size) for size in (2, 3, 4, 5, 8, 10, 32, 64, 128)],
)


def exponentials_in_tiles(scores, size):
    """Return the exponentials of the scores less the largest so far, and of the scores less the largest of all."""
    peak = scores.cummax(dim=-1).values
    last = (torch.arange(scores.shape[-1]) // size * size + size - 1).clamp_max(scores.shape[-1] - 1)
    so_far = peak[..., last]
    so_far, peak = (x.masked_fill(torch.isneginf(x), 0.0) for x in (so_far, peak[..., -1:]))
    return torch.exp(scores - so_far), torch.exp(scores - peak)


def tiles_not_rescaled(size, mixed=True, summed=False):
    def weigh(scores):
        stale, right = exponentials_in_tiles(scores, size)
        total = (stale if summed else right).sum(-1, keepdim=True)
        return (stale if mixed else right) / total.masked_fill(total == 0, 1.0)

    return {attention.weigh: weigh}


not_rescaled_in_tiles = Mutant(
    "ATT-tiles-not-rescaled",
    story="a softmax over tiles of keys, 8 each say, does not rescale what it has summed when the maximum grows",
    breaks={"ATT-KEYS-1", "ATT-ROWS-1"},
    hint="multiply both the sum and the output so far by exp(old maximum - new maximum)",
    replace=tiles_not_rescaled(8),
    variants=[
        tiles_not_rescaled(size, *stale)
        for size in (8, 1, 2, 4, 16, 32, 64)
        for stale in ((True, False), (True, True), (False, True))
    ][1:],
)


def weigh_in_tiles(size, averaged):
    def weigh(scores):
        tiles = scores.split(size, dim=-1)
        whole = torch.cat([attention.weigh(tile) for tile in tiles], dim=-1) if scores.shape[-1] else scores
        return whole / len(tiles) if averaged else whole

    return {attention.weigh: weigh}


softmax_of_tiles = Mutant(
    "ATT-softmax-of-tiles",
    story="each tile of keys, of 8 say, has a softmax of its own, and what they give is added or averaged",
    breaks={"ATT-KEYS-1", "ATT-ROWS-1"},
    hint="one softmax over all keys: carry maximum and sum from tile to tile, and divide at the end",
    replace=weigh_in_tiles(8, averaged=False),
    variants=[weigh_in_tiles(size, averaged) for averaged in (False, True) for size in (8, 2, 4, 16, 32, 64)][1:],
)


def weigh_with_padding(size):
    """Return weigh where keys of zeros, whose score is 0, fill the last tile."""

    def weigh(scores):
        room = -scores.shape[-1] % size
        return attention.weigh(torch.nn.functional.pad(scores, (0, room)))[..., : scores.shape[-1]]

    return {attention.weigh: weigh}


padding_of_tile = Mutant(
    "ATT-tile-padding-counted",
    story="zeros that fill the last tile of keys, of 8 say, take part in the softmax",
    breaks={"ATT-ROWS-1"},
    hint="set the scores of what only fills the tile to -inf",
    replace=weigh_with_padding(8),
    variants=[weigh_with_padding(size) for size in (2, 4, 16, 32, 64, 128)],
)

last_tile_of_queries = Mutant(
    "ATT-queries-past-64",
    story="rows past the 64th query stay zero",
    breaks={"ATT-LONG-1"},
    hint="the last tile of queries may be shorter than the others",
    replace={
        attention.mix: lambda weights, v: (
            attention.mix(weights, v) * (torch.arange(weights.shape[-2]) < 64)[:, None].to(v)
        )
    },
)

last_key_dropped = Mutant(
    "ATT-last-key-dropped",
    story="the last key is left out",
    breaks={"ATT-KEYS-1"},
    hint="the range over the keys ends one too early",
    replace={attention.score: lambda q, k, scale: keep_first(max(1, k.shape[-2] - 1))(q, k, scale)},
)


def weigh_from_second(scores):
    if scores.shape[-1] < 2:
        return attention.weigh(scores)
    return torch.cat([torch.zeros_like(scores[..., :1]), attention.weigh(scores[..., 1:])], dim=-1)


first_key_dropped = Mutant(
    "ATT-first-key-dropped",
    story="the softmax runs over a slice, scores[..., 1:]: the first key is left out",
    breaks={"ATT-KEYS-1", "MASK-BOOL-1"},
    hint="the softmax runs over all keys",
    replace={attention.weigh: weigh_from_second},
)


def score_with_recency(q, k, scale):
    return attention.score(q, k, scale) + 0.3 * torch.arange(k.shape[-2]).to(q)


recency = Mutant(
    "ATT-recency",
    story="later keys get a bonus that nobody asked for",
    breaks={"ATT-KEYS-1"},
    hint="positions are the business of a positional encoding",
    replace={attention.score: score_with_recency},
)

queries_centred = Mutant(
    "ATT-queries-centred",
    story="the mean over all queries is subtracted from each",
    breaks={"ATT-QUERY-1"},
    hint="a row depends on its own query alone",
    replace={attention.score: lambda q, k, scale: attention.score(q - q.mean(dim=-2, keepdim=True), k, scale)},
)


def zero_from_third(weights, v):
    return attention.mix(weights, v) * (torch.arange(len(v)) < 3)[:, None, None, None].to(v)


samples_past_3 = Mutant(
    "ATT-samples-past-3",
    story="samples past the third come out as zeros",
    breaks={"ATT-BATCH-1"},
    hint="loop over the whole batch",
    replace={attention.mix: zero_from_third},
    source="survives ONNX's Attention cases",
)

heads_averaged = Mutant(
    "ATT-heads-averaged",
    story="the heads are averaged, each gets the mean",
    breaks={"ATT-HEAD-1"},
    hint="concatenate the heads, do not average them",
    replace={
        attention.mix: lambda weights, v: attention.mix(weights, v).mean(1, keepdim=True).expand(-1, v.shape[1], -1, -1)
    },
)
