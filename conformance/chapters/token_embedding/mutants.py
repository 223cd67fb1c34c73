"""Ways to get token_embedding wrong: the reference with one function replaced."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous
from attnconf.reference import sinusoidal, token_embedding
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention


def around(change):
    """Return both components with what comes out changed: change(out)."""

    def embedding(config, weights):
        return lambda ids: change(token_embedding.embed(ids, weights["table.weight"], config.padding_id))

    def attention(config, weights):
        def forward(ids, *, key_mask=None):
            x = ids[..., None]
            mask = adapter.gather_masks(config, x, x, key_mask, None)
            return change(token_embedding.token_attention(ids, weights, config.num_heads, mask))

        return forward

    return {adapter.token_embedding: embedding, adapter.token_attention: attention}


# -- what comes out

summed = Mutant(
    "EMB-summed",
    story="the vectors of a sample are added up, as by an embedding bag",
    breaks={"CALL-SHAPE-1"},
    hint="a vector for every token: nn.Embedding, not nn.EmbeddingBag",
    replace=around(lambda out: out.sum(dim=1)),
)


def checking_the_largest(ids, size):
    if int(ids.max()) >= size or int(ids.min()) < 0 or ids.is_floating_point() or ids.dtype == torch.bool:
        raise IndexError(f"ids must be integers from 0 to {size - 1}")


empty_raises = Mutant(
    "EMB-empty-raises",
    story="no tokens raise an error, as there is no largest id",
    breaks={"CALL-EMPTY-1"},
    hint="look for the largest only if ids.numel()",
    replace={token_embedding.check_ids: checking_the_largest},
    raises={"CALL-EMPTY-1"},
)


def shifted_in_place(ids, table):
    return table.roll(1, 0)[ids.add_(1).remainder_(len(table))]


ids_shifted_in_place = Mutant(
    "EMB-ids-in-place",
    story="ids += 1, for a table with a row before the first: the caller's ids are changed",
    breaks={"CALL-IMMUT-1"},
    hint="write ids + 1",
    replace={token_embedding.rows: shifted_in_place},
)


def shortened_in_place(ids, table):
    with torch.no_grad():
        table.mul_(1 / table.norm(dim=-1, keepdim=True).clamp(min=1e-9))
    return table[ids]


rows_shortened_in_place = Mutant(
    "EMB-max-norm",
    story="rows are shortened to length 1, in the table itself",
    breaks={"CALL-IMMUT-1", "EMB-ROW-1"},
    hint="no max_norm",
    replace={token_embedding.rows: shortened_in_place},
    source="max_norm of nn.Embedding, which changes its weight",
)


# -- which row

next_row = Mutant(
    "EMB-next-row",
    story="an id gets the next row, the last one the first",
    breaks={"EMB-ROW-1"},
    hint="ids count from 0, as the rows do",
    replace={token_embedding.rows: lambda ids, table: table[(ids + 1) % len(table)]},
)

from_the_end = Mutant(
    "EMB-from-the-end",
    story="rows are counted from the end of the table",
    breaks={"EMB-ROW-1"},
    hint="id i is row i",
    replace={token_embedding.rows: lambda ids, table: table[len(table) - 1 - ids]},
)

too_few_rows = Mutant(
    "EMB-hashed",
    story="two ids share a row: ids are taken modulo half of the vocabulary",
    breaks={"EMB-ROW-1"},
    hint="a row for every id",
    replace={token_embedding.rows: lambda ids, table: table[ids % (len(table) // 2)]},
)

batch_transposed = Mutant(
    "EMB-transposed",
    story="ids are read along the batch, as if the sequence came first",
    breaks={"EMB-SAMPLE-1"},
    hint="the batch comes first here",
    replace={token_embedding.rows: lambda ids, table: table[ids.T.reshape(ids.shape)]},
)

first_sample = Mutant(
    "EMB-first-sample",
    story="all samples get the vectors of the first",
    breaks={"EMB-SAMPLE-1"},
    hint="look up the whole of (B, L)",
    replace={token_embedding.rows: lambda ids, table: table[ids[:1].expand(ids.shape)]},
)

normalised_rows = Mutant(
    "EMB-normalised",
    story="vectors are scaled to length 1",
    breaks={"EMB-ROW-1"},
    hint="the row as it is",
    replace={
        token_embedding.rows: lambda ids, table: torch.nn.functional.normalize(table[ids], dim=-1, eps=1e-9),
    },
)


def embedding_with_positions(config, weights):
    def forward(ids):
        x = token_embedding.embed(ids, weights["table.weight"], config.padding_id)
        late = torch.arange(ids.shape[1], dtype=x.dtype)[:, None] > 0
        return x + late * (sinusoidal.sinusoidal(torch.zeros_like(x)))

    return forward


position_inside = Mutant(
    "EMB-position-inside",
    story="positions are added to the vectors by the embedding already",
    breaks={"EMB-SAME-1"},
    hint="positions are added once, after the embedding",
    replace={adapter.token_embedding: embedding_with_positions},
)


def zero_blank(ids, table):
    return table[ids] * (ids != 0)[..., None]


zero_blanked = Mutant(
    "EMB-zero-blanked",
    story="id 0 counts as padding, and gets zeros",
    breaks={"EMB-ZERO-1"},
    hint="only where padding_id says so",
    replace={token_embedding.rows: zero_blank},
)


def zero_freeze(ids, table):
    return torch.nn.functional.embedding(ids, table, padding_idx=0)


zero_frozen = Mutant(
    "EMB-zero-frozen",
    story="id 0 counts as padding: its row never learns",
    breaks={"EMB-ZERO-1"},
    hint="no padding_idx=0 by default",
    replace={token_embedding.rows: zero_freeze},
)


def all_but_the_last(ids, size):
    token_embedding.check_ids(ids, size - 1)


last_refused = Mutant(
    "EMB-last-refused",
    story="the last id raises",
    breaks={"EMB-LAST-1"},
    hint="V ids are 0 … V - 1: compare with <, not with < V - 1",
    replace={token_embedding.check_ids: all_but_the_last},
    raises={"EMB-LAST-1"},
)

last_is_the_one_before = Mutant(
    "EMB-last-clamped",
    story="the last id gets the row before its own",
    breaks={"EMB-LAST-1"},
    hint="clamping hides what is off by one",
    replace={token_embedding.rows: lambda ids, table: table[ids.clamp(max=len(table) - 2)]},
)

eight_bits = Mutant(
    "EMB-eight-bits",
    story="ids are kept in eight bits and begin again after 256",
    breaks={"EMB-LAST-1"},
    hint="keep ids in 64 bits, or 32",
    replace={token_embedding.rows: lambda ids, table: table[ids.to(torch.uint8).long()]},
)

undeclared_scale = Mutant(
    "EMB-undeclared-scale",
    story="rows are multiplied by √dim once more than is declared: where nobody says so, or twice",
    breaks={"EMB-SCALE-1"},
    hint='declare embedding-scale = "sqrt", and multiply once, or leave √dim out',
    replace={token_embedding.rows: lambda ids, table: token_embedding.scale(table[ids])},
)

divided = Mutant(
    "EMB-divided",
    story="rows are divided by √dim",
    breaks={"EMB-SCALE-1"},
    hint="1/√dim belongs to attention's scores",
    replace={token_embedding.rows: lambda ids, table: table[ids] / math.sqrt(table.shape[1])},
    source="proposed in tutorials#2849",
)

scaled_twice = Mutant(
    "EMB-scaled-twice",
    story="rows are multiplied by √dim twice",
    breaks={"EMB-SCALE-1"},
    hint="once: in the embedding or in the model",
    replace={token_embedding.rows: lambda ids, table: token_embedding.scale(token_embedding.scale(table[ids]))},
)

scaled_by_vocabulary = Mutant(
    "EMB-scaled-by-vocabulary",
    story="rows are multiplied by the root of the vocabulary's size",
    breaks={"EMB-SCALE-1"},
    hint="if any, √dim: the last axis of the table, not its first",
    replace={token_embedding.rows: lambda ids, table: table[ids] * math.sqrt(len(table))},
)


def scaled_late(ids, weights, num_heads, mask=None):
    x = token_embedding.place(token_embedding.embed(ids, weights["table.weight"]))
    return token_embedding.look_around(token_embedding.scale(x), weights, num_heads, mask)


positions_scaled_too = Mutant(
    "EMB-positions-scaled-too",
    story="√dim multiplies what has its positions already",
    breaks={"EMB-SCALE-1"},
    hint="scale the rows, then add positions",
    replace={token_embedding.token_attention: scaled_late},
)


def rounded(ids, table):
    x = table[ids]
    return x.to(torch.float8_e4m3fn).to(x.dtype) if x.dtype in (torch.bfloat16, torch.float16) else x


rows_in_eight_bits = Mutant(
    "EMB-rows-in-eight-bits",
    story="in half precision rows are kept in eight bits",
    breaks={"EMB-HALF-1"},
    hint="a lookup rounds nothing",
    replace={token_embedding.rows: rounded},
    silent_on={"token_attention": "half precision is judged where nothing follows the rows"},
)


# -- what is refused


def refusing(*, floats=True, bools=True, low=True, high=True):
    def check(ids, size):
        if floats and ids.is_floating_point():
            raise TypeError("ids must be integers")
        if bools and ids.dtype == torch.bool:
            raise TypeError("ids must be integers")
        if low and ids.numel() and int(ids.min()) < 0:
            raise IndexError("ids must not be negative")
        if high and ids.numel() and int(ids.max()) >= size:
            raise IndexError(f"ids must be less than {size}")

    return check


beyond_clamped = Mutant(
    "EMB-beyond-clamped",
    story="ids beyond the vocabulary get the last row",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error",
    replace={
        token_embedding.check_ids: refusing(high=False),
        token_embedding.rows: lambda ids, table: table[ids.clamp(max=len(table) - 1)],
    },
    source="indexing in JAX",
)

beyond_wrapped = Mutant(
    "EMB-beyond-wrapped",
    story="ids beyond the vocabulary begin again at 0",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error",
    replace={
        token_embedding.check_ids: refusing(high=False),
        token_embedding.rows: lambda ids, table: table[ids % len(table)],
    },
)


def unknown_is_zero(ids, table):
    known = (ids < len(table))[..., None]
    return table[ids.clamp(max=len(table) - 1)] * known


beyond_zero = Mutant(
    "EMB-beyond-zero",
    story="ids beyond the vocabulary get zeros",
    breaks={"EMB-BEYOND-1"},
    hint="raise an error; an unknown word has an id of its own",
    replace={token_embedding.check_ids: refusing(high=False), token_embedding.rows: unknown_is_zero},
    source="lookups on accelerators that check nothing",
)

negative_from_end = Mutant(
    "EMB-negative-from-end",
    story="a negative id gets a row from the table's end",
    breaks={"EMB-NEG-1"},
    hint="indexing by -1 is the last row: compare with 0 and raise an error",
    replace={
        token_embedding.check_ids: refusing(low=False),
        token_embedding.rows: lambda ids, table: table[ids % len(table)],
    },
    source="pytorch#151918",
)

outside_to_first = Mutant(
    "EMB-outside-to-first",
    story="ids beyond the vocabulary, and negative ones, get row 0",
    breaks={"EMB-BEYOND-1", "EMB-NEG-1"},
    hint="raise an error: an unknown word has an id of its own, which the tokenizer gives it",
    replace={
        token_embedding.check_ids: refusing(high=False, low=False),
        token_embedding.rows: lambda ids, table: table[torch.where((ids < 0) | (ids >= len(table)), 0, ids)],
    },
)

negative_clamped = Mutant(
    "EMB-negative-clamped",
    story="negative ids get row 0",
    breaks={"EMB-NEG-1"},
    hint="raise an error; what is ignored in the loss, -100, is no id",
    replace={
        token_embedding.check_ids: refusing(low=False),
        token_embedding.rows: lambda ids, table: table[ids.clamp(min=0)],
    },
)

floats_cut = Mutant(
    "EMB-floats-cut",
    story="floating-point ids are cut to integers",
    breaks={"EMB-FLOAT-1"},
    hint="refuse what is not an integer; no .long()",
    replace={
        token_embedding.check_ids: refusing(floats=False),
        token_embedding.rows: lambda ids, table: table[ids.long() if ids.is_floating_point() else ids],
    },
)

truth_as_ids = Mutant(
    "EMB-truth-as-ids",
    story="False and True are taken for ids 0 and 1",
    breaks={"EMB-BOOL-1"},
    hint="a mask in the place of ids is a mistake: refuse it",
    replace={
        token_embedding.check_ids: refusing(bools=False),
        token_embedding.rows: lambda ids, table: table[ids.long() if ids.dtype == torch.bool else ids],
    },
)


def only_int64(ids, size):
    if ids.dtype != torch.int64:
        raise TypeError(f"ids are {ids.dtype}, want torch.int64")
    refusing()(ids, size)


int32_refused = Mutant(
    "EMB-int32-refused",
    story="ids of 32 bits raise",
    breaks={"EMB-INT-1"},
    hint="nn.Embedding takes them; so do others' tokenizers give them",
    replace={token_embedding.check_ids: only_int64},
    raises={"EMB-INT-1"},
)

# -- gradients

table_frozen = Mutant(
    "EMB-table-frozen",
    story="the table does not learn",
    breaks={"EMB-GRAD-1"},
    hint="make it a parameter: no buffer, no detach; from_pretrained freezes unless told otherwise",
    replace={token_embedding.rows: lambda ids, table: table.detach()[ids] + 0 * table[ids]},
    source="nn.Embedding.from_pretrained, which freezes by default",
)


class ByFrequency(torch.autograd.Function):
    """A lookup whose backward pass divides by the number of uses."""

    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = len(table)
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        out = grad.new_zeros(ctx.rows, grad.shape[-1]).index_add(0, ids.flatten(), grad.flatten(0, -2))
        return None, out / ids.flatten().bincount(minlength=ctx.rows).clamp(min=1)[:, None]


def look_up_by_frequency(ids, table):
    return ByFrequency.apply(ids, table)


by_frequency = Mutant(
    "EMB-by-frequency",
    story="the gradient of a row is divided by how often it was used",
    breaks={"EMB-GRAD-2"},
    hint="no scale_grad_by_freq",
    replace={token_embedding.rows: look_up_by_frequency},
    source="scale_grad_by_freq of nn.Embedding",
)


class LastWins(torch.autograd.Function):
    """A lookup whose backward pass writes where it has to add."""

    @staticmethod
    def forward(ctx, ids, table):
        ctx.save_for_backward(ids)
        ctx.rows = len(table)
        return table[ids]

    @staticmethod
    def backward(ctx, grad):
        (ids,) = ctx.saved_tensors
        out = grad.new_zeros(ctx.rows, grad.shape[-1])
        out[ids.flatten()] = grad.flatten(0, -2)
        return None, out


def look_up_last(ids, table):
    return LastWins.apply(ids, table)


last_wins = Mutant(
    "EMB-last-wins",
    story="where a row is used several times one token's gradient reaches it",
    breaks={"EMB-GRAD-2"},
    hint="accumulate: index_add, not an assignment",
    replace={token_embedding.rows: look_up_last},
)


def leaking(ids, table):
    unused = torch.ones(len(table), 1, dtype=table.dtype).index_fill(0, ids.flatten().long(), 0.0)
    leak = (table * unused).sum(dim=0)
    return table[ids] + (leak - leak.detach())


unused_learn = Mutant(
    "EMB-unused-learn",
    story="a penalty on the rows that were not used leaks into their gradients",
    breaks={"EMB-GRAD-3"},
    hint="what is not used has gradient 0; regularise in the optimiser",
    replace={token_embedding.rows: leaking},
)

# -- padding

padding_learns = Mutant(
    "EMB-padding-learns",
    story="padding_id is ignored: its row learns",
    breaks={"EMB-PAD-1"},
    hint="pass padding_idx on",
    replace={token_embedding.keep_from_training: lambda table, padding_id: table},
    source="pytorch#26302, pytorch#28716",
)


def freeze_other(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) <= padding_id
    return torch.where(frozen[:, None], table.detach(), table)


rows_before_frozen = Mutant(
    "EMB-rows-before-padding-frozen",
    story="the rows before the padding's do not learn either",
    breaks={"EMB-PAD-2"},
    hint="ids == padding_id, not ids <= padding_id",
    replace={token_embedding.keep_from_training: freeze_other},
)


def freeze_zero(table, padding_id):
    if padding_id is None:
        return table
    return torch.cat([table[:1].detach(), table[1:]])


zero_is_padding = Mutant(
    "EMB-zero-is-padding",
    story="row 0 is kept from training, whatever the padding is",
    breaks={"EMB-PAD-1", "EMB-PAD-2"},
    hint="use padding_id",
    replace={token_embedding.keep_from_training: freeze_zero},
)


def padding_is_mean(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) == padding_id
    return torch.where(frozen[:, None], table.mean(dim=0).detach(), table)


padding_averaged = Mutant(
    "EMB-padding-averaged",
    story="the padding gets the mean of all rows",
    breaks={"EMB-PAD-3"},
    hint="its own row, or zeros",
    replace={token_embedding.keep_from_training: padding_is_mean},
)


def padding_is_far(table, padding_id):
    if padding_id is None:
        return table
    frozen = torch.arange(len(table)) == padding_id
    return torch.where(frozen[:, None], -1e9, table)


padding_far_away = Mutant(
    "EMB-padding-far-away",
    story="the padding gets -1e9 in every feature, as if it were a score",
    breaks={"EMB-PAD-3"},
    hint="-inf belongs to the scores of masked keys",
    replace={token_embedding.keep_from_training: padding_is_far},
)

# -- from ids to attention

no_positions = Mutant(
    "EMB-no-positions",
    story="no positions are added",
    breaks={"EMB-ORDER-1"},
    hint="embedding, then positions, then attention",
    replace={token_embedding.place: lambda x: x},
)

positions_twice = Mutant(
    "EMB-positions-twice",
    story="positions are added twice",
    breaks={"EMB-POS-1"},
    hint="once: in the embedding or in front of attention",
    replace={token_embedding.place: lambda x: sinusoidal.sinusoidal(sinusoidal.sinusoidal(x))},
)

positions_from_one = Mutant(
    "EMB-positions-from-one",
    story="the first token has position 1",
    breaks={"EMB-POS-1"},
    hint='count from 0, or declare {"sinusoidal-offset": "1"}',
    replace={token_embedding.place: lambda x: sinusoidal.sinusoidal(x, torch.arange(1, x.shape[1] + 1))},
)

positions_along_batch = Mutant(
    "EMB-positions-along-batch",
    story="positions run along the batch",
    breaks={"EMB-ORDER-1"},
    hint="the batch comes first: positions belong to axis 1",
    replace={
        token_embedding.place: lambda x: sinusoidal.sinusoidal(x, torch.arange(len(x))[:, None].expand(x.shape[:2])),
    },
)

positions_multiplied = Mutant(
    "EMB-positions-multiplied",
    story="vectors are multiplied by positions",
    breaks={"EMB-ROW-1"},
    hint="add",
    replace={token_embedding.place: lambda x: x * sinusoidal.sinusoidal(torch.zeros_like(x))},
)


def positions_behind(ids, weights, num_heads, mask=None):
    x = token_embedding.embed(ids, weights["table.weight"])
    return token_embedding.place(token_embedding.look_around(x, weights, num_heads, mask))


positions_after_attention = Mutant(
    "EMB-positions-after-attention",
    story="positions are added to what attention gives",
    breaks={"EMB-ORDER-1"},
    hint="before attention: it is attention that needs them",
    replace={token_embedding.token_attention: positions_behind},
)


def own(weights):
    return {name.removeprefix("attn."): w for name, w in weights.items() if name.startswith("attn.")}


def positions_not_in_values(ids, weights, num_heads, mask=None):
    x = token_embedding.embed(ids, weights["table.weight"])
    placed = token_embedding.place(x)
    return multi_head_attention(placed, placed, x, own(weights), num_heads, mask)[0]


values_without_positions = Mutant(
    "EMB-values-without-positions",
    story="queries and keys have positions, values have none",
    breaks={"EMB-POS-1"},
    hint="all three are read from the same x",
    replace={token_embedding.token_attention: positions_not_in_values},
    source="the attention of DETR, which means it",
)


def looking(change):
    """Return look_around with its arguments changed: change(x, mask) -> (x, mask)."""

    def look_around(x, weights, num_heads, mask):
        x, mask = change(x, mask)
        return multi_head_attention(x, x, x, own(weights), num_heads, mask)[0]

    return look_around


def always_triangular(x, mask):
    triangle = causal(x.shape[1], x.shape[1])
    return x, triangle if mask is None else mask & triangle


always_causal = Mutant(
    "EMB-always-causal",
    story="attention is causal without being asked",
    breaks={"EMB-SEEN-1"},
    hint='only with config.causal, or declare {"causality": "always"}',
    replace={token_embedding.look_around: looking(always_triangular)},
)


def only_neighbours(x, mask):
    at = torch.arange(x.shape[1])
    near = (at[:, None] - at).abs() <= max(1, x.shape[1] - 2)
    return x, near if mask is None else mask & near


last_not_seen = Mutant(
    "EMB-window",
    story="a token does not see those that are furthest away",
    breaks={"EMB-SEEN-1"},
    hint="no window unless one is asked for",
    replace={token_embedding.look_around: looking(only_neighbours)},
)


def across_the_batch(x, weights, num_heads, mask):
    if not len(x):
        return x
    y = x.transpose(0, 1)
    return multi_head_attention(y, y, y, own(weights), num_heads)[0].transpose(0, 1)


attends_across_batch = Mutant(
    "EMB-attends-across-batch",
    story="tokens look at the tokens of other samples, at their own position",
    breaks={"EMB-SAMPLE-1"},
    hint="batch_first=True",
    replace={token_embedding.look_around: across_the_batch},
)


def first_sample_mixed(x, mask):
    return x + 0.1 * x[:1], mask


samples_mixed = Mutant(
    "EMB-samples-mixed",
    story="a tenth of the first sample gets into all others",
    breaks={"EMB-SAMPLE-1"},
    hint="keep the batch axis in every product",
    replace={token_embedding.look_around: looking(first_sample_mixed)},
)


def without(config, weights, causal=False, padding=False):
    def forward(ids, *, key_mask=None):
        x = ids[..., None]
        whole = adapter.gather_masks(config, x, x, key_mask, None)
        only_padding = None if key_mask is None else key_mask[:, None, None, :]
        only_causal = adapter.gather_masks(config, x, x, None, None)
        mask = only_padding if causal else only_causal if padding else whole
        return token_embedding.token_attention(ids, weights, config.num_heads, mask)

    return forward


causal_ignored = Mutant(
    "EMB-causal-ignored",
    story="causal is ignored: a token sees later ones",
    breaks={"EMB-CAUSAL-1"},
    hint="mask what comes later",
    replace={adapter.token_attention: lambda config, weights: without(config, weights, causal=True)},
)

mask_ignored = Mutant(
    "EMB-mask-ignored",
    story="the mask of padding is ignored",
    breaks={"EMB-MASK-1"},
    hint="pass the mask on to attention",
    replace={adapter.token_attention: lambda config, weights: without(config, weights, padding=True)},
)


def inverting(config, weights):
    def forward(ids, *, key_mask=None):
        x = ids[..., None]
        mask = adapter.gather_masks(config, x, x, None if key_mask is None else ~key_mask, None)
        return token_embedding.token_attention(ids, weights, config.num_heads, mask)

    return forward


mask_inverted = Mutant(
    "EMB-mask-inverted",
    story="True of the mask means padding: only that is seen",
    breaks={"EMB-MASK-1"},
    hint="True means: may attend; nn.MultiheadAttention wants ~key_mask",
    replace={adapter.token_attention: inverting},
)


def unscaled(x, weights, num_heads, mask):
    width = math.sqrt(x.shape[-1] / num_heads)
    sharp = {n: w * width if n.startswith("q.") else w for n, w in own(weights).items()}
    return multi_head_attention(x, x, x, sharp, num_heads, mask)[0]


scores_unscaled = Mutant(
    "EMB-scores-unscaled",
    story="the scores are not divided by √(D/H)",
    breaks={"EMB-ORACLE-1"},
    hint="divide by the root of one head's width",
    replace={token_embedding.look_around: unscaled},
    source="system 1a",
)

one_head = Mutant(
    "EMB-one-head",
    story="there is one head as wide as all",
    breaks={"EMB-ORACLE-1"},
    hint="pass the number of heads on",
    replace={
        token_embedding.look_around: lambda x, weights, num_heads, mask: multi_head_attention(
            x, x, x, own(weights), 1, mask
        )[0],
    },
)


def values_from_keys(x, weights, num_heads, mask):
    weights = own(weights)
    weights["k.weight"], weights["q.weight"] = weights["q.weight"], weights["k.weight"]
    return multi_head_attention(x, x, x, weights, num_heads, mask)[0]


queries_and_keys_swapped = Mutant(
    "EMB-queries-and-keys-swapped",
    story="queries are made by the keys' weight, and keys by the queries'",
    breaks={"EMB-ORACLE-1"},
    hint="q.weight makes queries",
    replace={token_embedding.look_around: values_from_keys},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "EMB-SAMPLE-1 EMB-INT-1", "no id has an effect"),
    Vacuous(CONSTANT, "EMB-SAME-1", "the same for all tokens", components=("token_embedding",)),
    Vacuous(
        NUMBERS, "EMB-SAME-1", "what it adds to that of a table of zeros is nothing", components=("token_attention",)
    ),
    Vacuous(CONSTANT, "EMB-MASK-1", "the same beside padding and without"),
    Vacuous(("zeros",), "EMB-PAD-3", "zeros for the padding are a choice"),
)
