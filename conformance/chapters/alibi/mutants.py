"""Ways to get ALiBi wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import alibi, attention, masks

# -- slopes


def powers(exponent):
    """Return geometric with 2^exponent(h, H), h = 1, …, H."""

    def geometric(heads):
        h = torch.arange(1, heads + 1, dtype=torch.float64)
        return 2.0 ** exponent(h, heads)

    return geometric


from_one = Mutant(
    "ALIBI-from-one",
    story="the slopes begin with 1: the heads are counted from 0",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H for h = 1, …, H",
    replace={alibi.geometric: powers(lambda h, heads: -8 * (h - 1) / heads)},
    source="aprender#2143",
)

halves = Mutant(
    "ALIBI-halves",
    story="every head has half the slope of the one before, however many there are: right for 8 heads only",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H; it is -h for 8 heads only",
    replace={alibi.geometric: powers(lambda h, heads: -h)},
)

right_for_few = Mutant(
    "ALIBI-right-for-few",
    story="beyond 16 heads every head has half the slope of the one before",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H, for 32 heads too",
    replace={alibi.geometric: powers(lambda h, heads: -8 * h / heads if heads <= 16 else -h)},
)

whole_eighths = Mutant(
    "ALIBI-whole-eighths",
    story="the step between the heads is 8 // H, a whole number: beyond 8 heads it is 0, and all slopes are 1",
    breaks={"ALIBI-SLOPE-1"},
    hint="divide with /: the slopes are 2^(-8h/H)",
    replace={alibi.geometric: lambda heads: 2.0 ** (-(8 // heads) * torch.arange(1, heads + 1, dtype=torch.float64))},
)

eight_forgotten = Mutant(
    "ALIBI-eight-forgotten",
    story="the slopes are 2^(-h/H), without the 8",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H",
    replace={alibi.geometric: powers(lambda h, heads: -h / heads)},
)


def bias_of_growing_slopes(config, weights):
    def forward(query_length, key_length):
        slopes = powers(lambda h, heads: 8 * h / heads)(config.num_heads)
        bias = -slopes[:, None, None] * alibi.distances(query_length, key_length)
        return bias.to(config.device, config.dtype)

    return forward


growing = Mutant(
    "ALIBI-growing",
    story="the exponent has lost its sign: the slopes are 2^(8h/H), which grow beyond 1",
    breaks={"ALIBI-HEAD-1"},
    hint="the exponent is -8h/H",
    replace={adapter.alibi: bias_of_growing_slopes},
)

spread = Mutant(
    "ALIBI-spread",
    story="the exponents are spread from -1 to -8 whatever the number of heads",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H: for 16 heads the slopes begin with 2^-0.5",
    replace={alibi.geometric: powers(lambda h, heads: -torch.linspace(1, 8, heads, dtype=torch.float64))},
)

base_e = Mutant(
    "ALIBI-base-e",
    story="the slopes are powers of e",
    breaks={"ALIBI-SLOPE-1"},
    hint="the base is 2",
    replace={alibi.geometric: powers(lambda h, heads: -8 * h / heads * torch.e)},
)

one_formula = Mutant(
    "ALIBI-one-formula",
    story="2^(-8h/H) is taken for every H, where the published rule is declared",
    breaks={"ALIBI-SLOPE-2"},
    hint='follow the published rule where H is no power of two, or declare "alibi-slopes": "geometric"',
    replace={alibi.slopes: lambda heads: alibi.geometric(heads)},
    source="mlx#343; Baichuan2#225",
)


def with_rest(rest):
    """Return slopes whose first ones are those of the power of two below, and the others rest(geometric, below, n)."""

    def slopes(heads):
        below = 1 << (heads.bit_length() - 1)
        return torch.cat([alibi.geometric(below), rest(below)[: heads - below]])

    return slopes


rest_not_skipped = Mutant(
    "ALIBI-rest-not-skipped",
    story="for H that is no power of two the other heads take the first slopes of twice as many, not every other one",
    breaks={"ALIBI-SLOPE-2"},
    hint="take every other slope of twice as many heads: geometric(2n)[0::2]",
    replace={alibi.slopes: with_rest(lambda below: alibi.geometric(2 * below))},
)

rest_even = Mutant(
    "ALIBI-rest-even",
    story="for H that is no power of two the other heads take the slopes with even numbers, which are there already",
    breaks={"ALIBI-SLOPE-2"},
    hint="take the first, third, … slope of twice as many heads: geometric(2n)[0::2]",
    replace={alibi.slopes: with_rest(lambda below: alibi.geometric(2 * below)[1::2])},
)

rest_repeated = Mutant(
    "ALIBI-rest-repeated",
    story="for H that is no power of two the slopes of the power below begin again",
    breaks={"ALIBI-SLOPE-2"},
    hint="take every other slope of twice as many heads: geometric(2n)[0::2]",
    replace={alibi.slopes: with_rest(lambda below: alibi.geometric(below))},
)

cut_from_above = Mutant(
    "ALIBI-cut-from-above",
    story="for H that is no power of two the first slopes of the next power of two are taken",
    breaks={"ALIBI-SLOPE-2"},
    hint="begin with the slopes of the power of two below H",
    replace={alibi.slopes: lambda heads: alibi.geometric(1 << (heads - 1).bit_length())[:heads]},
)

heads_reversed = Mutant(
    "ALIBI-heads-reversed",
    story="the heads have the slopes of a power of two in the opposite order",
    breaks={"ALIBI-HEAD-1"},
    hint="the first head has the steepest slope",
    replace={alibi.geometric: lambda heads: alibi.geometric(heads).flip(0)},
)

one_slope = Mutant(
    "ALIBI-one-slope",
    story="all heads have one slope, the mean",
    breaks={"ALIBI-HEAD-1"},
    hint="every head has its own slope: (H, 1, 1) times (L, S)",
    replace={alibi.slopes: lambda heads: alibi.slopes(heads).mean().expand(heads)},
)

# -- distances


def with_distances(change):
    """Return distances with each one changed by change(distance)."""
    return lambda queries, keys: change(alibi.distances(queries, keys))


rewarded = Mutant(
    "ALIBI-rewarded",
    story="the sign is lost: keys are rewarded for being far away",
    breaks={"ALIBI-SIGN-1"},
    hint="the bias is -m·distance",
    replace={alibi.bias: lambda heads, queries, keys: -alibi.bias(heads, queries, keys)},
)

absent = Mutant(
    "ALIBI-absent",
    story="there is no bias",
    breaks={"ALIBI-SIGN-1"},
    hint="add -m·distance to the scaled scores",
    replace={alibi.bias: lambda heads, queries, keys: 0 * alibi.bias(heads, queries, keys)},
)

squared = Mutant(
    "ALIBI-squared",
    story="the penalty grows with the square of the distance",
    breaks={"ALIBI-LINEAR-1"},
    hint="the bias is -m·distance",
    replace={alibi.distances: with_distances(torch.square)},
)

logarithmic = Mutant(
    "ALIBI-logarithmic",
    story="the penalty grows with the logarithm of the distance",
    breaks={"ALIBI-LINEAR-1"},
    hint="the bias is -m·distance; logarithms are for other encodings",
    replace={alibi.distances: with_distances(torch.log1p)},
)

relative_to_length = Mutant(
    "ALIBI-relative-to-length",
    story="the distance is divided by the number of keys that the query sees",
    breaks={"ALIBI-DISTANCE-1"},
    hint="distances are in tokens, whatever the length",
    replace={
        alibi.distances: lambda queries, keys: (
            alibi.distances(queries, keys) / torch.arange(keys - queries + 1, keys + 1)[:, None]
        )
    },
)

in_blocks = Mutant(
    "ALIBI-in-blocks",
    story="positions begin again every 4 tokens",
    breaks={"ALIBI-DISTANCE-1"},
    hint="positions run through the whole sequence, whatever the tile",
    replace={
        alibi.distances: lambda queries, keys: (
            (torch.arange(queries) + keys - queries)[:, None] % 4 - torch.arange(keys) % 4.0
        ).abs()
    },
)

clipped = Mutant(
    "ALIBI-clipped",
    story="distances beyond 128 tokens count as 128",
    breaks={"ALIBI-LONG-1"},
    hint="nothing is clipped: that the penalty goes on growing is the point",
    replace={alibi.distances: with_distances(lambda distance: distance.clamp(max=128))},
)

wrapped = Mutant(
    "ALIBI-wrapped",
    story="distances are kept in eight bits and begin again after 256",
    breaks={"ALIBI-LONG-1"},
    hint="keep distances in 32 bits",
    replace={alibi.distances: with_distances(lambda distance: distance % 256)},
)


def rounded_distances(queries, keys):
    i, j = (torch.arange(n).bfloat16().double() for n in (queries, keys))
    return (i[:, None] + (keys - queries) - j).abs()


positions_rounded = Mutant(
    "ALIBI-positions-rounded",
    story="positions are kept in bfloat16, which has no odd numbers beyond 256",
    breaks={"ALIBI-LONG-1"},
    hint="keep positions as integers or in float32; cast the bias, if at all, at the end",
    source="Falcon in transformers",
    replace={alibi.distances: rounded_distances},
)


def by_key_alone(config, weights):
    def forward(query_length, key_length):
        own = torch.arange(key_length - query_length, key_length)
        bias = alibi.bias(config.num_heads, query_length, key_length)
        earlier = (alibi.slopes(config.num_heads)[:, None, None] * torch.arange(key_length)).expand_as(bias)
        chosen = torch.where(torch.arange(key_length) <= own[:, None], earlier, bias) if config.causal else bias
        return chosen.to(config.device, config.dtype)

    return forward


key_rounded = Mutant(
    "ALIBI-key-rounded",
    story="the bias is +m·key, which is right, but cast to half precision, where late neighbours become one",
    breaks={"ALIBI-HALF-1"},
    hint="in half precision use -m·(query - key), which is small for neighbours, or keep the bias in float32",
    replace={adapter.alibi: by_key_alone},
    source="BLOOM in transformers",
)


def signed(queries, keys):
    i, j = torch.arange(queries, dtype=torch.float64), torch.arange(keys, dtype=torch.float64)
    return i[:, None] + (keys - queries) - j


later_rewarded = Mutant(
    "ALIBI-later-rewarded",
    story="without causality later keys have negative distances: they are rewarded",
    breaks={"ALIBI-BOTH-1"},
    hint="without causality the distance is |query - key|",
    replace={alibi.distances: signed},
    source="x-transformers#85",
)

earlier_rewarded = Mutant(
    "ALIBI-earlier-rewarded",
    story="the slope has the wrong sign, and so has the distance of later keys: m·(query - key)",
    breaks={"ALIBI-SIGN-1", "ALIBI-BOTH-1"},
    hint="the bias is -m·|query - key|",
    replace={alibi.distances: lambda queries, keys: -signed(queries, keys)},
)

later_free = Mutant(
    "ALIBI-later-free",
    story="without causality later keys have no penalty",
    breaks={"ALIBI-BOTH-1"},
    hint="without causality the distance is |query - key|",
    replace={alibi.distances: lambda queries, keys: signed(queries, keys).clamp(min=0)},
)

top_left = Mutant(
    "ALIBI-top-left",
    story="with fewer queries than keys the first query stands at the first key",
    breaks={"ALIBI-ALIGN-1"},
    hint="the queries are the last tokens: query i stands at key i + S - L",
    replace={
        alibi.distances: lambda queries, keys: (
            torch.arange(queries, dtype=torch.float64)[:, None] - torch.arange(keys)
        ).abs()
    },
    silent_on={"alibi_attention": "it has as many queries as keys"},
)

# -- what comes back


def without_queries(config, weights):
    def forward(query_length, key_length):
        return alibi.bias(config.num_heads, query_length, key_length)[:, -1].to(config.device, config.dtype)

    return forward


queries_left_out = Mutant(
    "ALIBI-queries-left-out",
    story="the bias comes back without the axis of the queries, as one row for all",
    breaks={"CALL-SHAPE-1"},
    hint="return (H, L, S); a bias of one row has to be expanded",
    replace={adapter.alibi: without_queries},
)


def first_table(tables, heads, length):
    """Return the table for a length from one that the first call fixed: tokens beyond its end stand at its end."""
    if not tables:
        tables.append(alibi.bias(heads, length, length))
    at = torch.arange(length).clamp(max=tables[0].shape[-1] - 1)
    return tables[0][:, at][:, :, at]


def remembering_bias(config, weights):
    tables = []

    def forward(query_length, key_length):
        table = first_table(tables, config.num_heads, max(query_length, key_length))
        return table[:, -query_length:, -key_length:].to(config.device, config.dtype)

    return forward


def remembering_attention(config, weights):
    tables = []

    def forward(query, key, value):
        L = query.shape[-2]
        mask = masks.causal(L, L) if config.causal else None
        return attention.attend(query, key, value, mask, first_table(tables, config.num_heads, L).to(query))[0]

    return forward


remembered = Mutant(
    "ALIBI-remembered",
    story="the first call fixes the length of the table: what is longer later piles up at its end",
    breaks={"CALL-REPEAT-1"},
    hint="compute the bias for the lengths of this call, or make the table longer when it has to be",
    replace={adapter.alibi: remembering_bias, adapter.alibi_attention: remembering_attention},
)


def last_columns(tables, heads, queries, keys):
    """Return the first rows and the last columns of the longest table so far, where both are as many."""
    if queries != keys:
        return alibi.bias(heads, queries, keys)
    if not tables or tables[0].shape[-1] < keys:
        tables[:] = [alibi.bias(heads, queries, keys)]
    return tables[0][:, :queries, -keys:]


def last_columns_of_bias(config, weights):
    tables = []
    return lambda query_length, key_length: last_columns(tables, config.num_heads, query_length, key_length).to(
        config.device, config.dtype
    )


def last_columns_in_attention(config, weights):
    tables = []

    def forward(query, key, value):
        L = query.shape[-2]
        mask = masks.causal(L, L) if config.causal else None
        return attention.attend(query, key, value, mask, last_columns(tables, config.num_heads, L, L).to(query))[0]

    return forward


cut_at_two_ends = Mutant(
    "ALIBI-cut-at-two-ends",
    story="the table is kept, and cut with its first rows but its last columns: shorter calls later are shifted",
    breaks={"CALL-REPEAT-1"},
    hint="cut rows and columns at the same end: table[:, :L, :L], or table[:, -L:, -S:]",
    replace={adapter.alibi: last_columns_of_bias, adapter.alibi_attention: last_columns_in_attention},
)


def with_heads_merged(q, k, v, causal=True):
    return alibi.alibi_attention(q, k, v, causal).transpose(1, 2).flatten(2)


heads_merged = Mutant(
    "ALIBI-heads-merged",
    story="the output comes back with its heads side by side, (B, L, H·E)",
    breaks={"CALL-SHAPE-1"},
    hint="return (B, H, L, E), the shape of the query",
    replace={alibi.alibi_attention: with_heads_merged},
)

# -- in attention


def attending(scores, bias_as=lambda bias, q: bias.to(q), after=lambda weights, bias: weights):
    """Return alibi_attention with scores(q, k, bias), and weights changed after the softmax."""

    def alibi_attention(q, k, v, causal=True):
        L, S = q.shape[-2], k.shape[-2]
        bias = bias_as(alibi.bias(q.shape[1], L, S), q)
        hidden = masks.hide(scores(q, k, bias), masks.causal(L, S) if causal else None)
        weights = after(attention.weigh(hidden), bias)
        return attention.mix(weights, v.to(weights))

    return alibi_attention


def product(q, k, scale=None):
    return attention.score(q, k, q.shape[-1] ** -0.5 if scale is None else scale)


bias_scaled = Mutant(
    "ALIBI-bias-scaled",
    story="the bias is added before the scores are scaled",
    breaks={"ALIBI-WIDTH-1"},
    hint="scale the scores first, then add the bias",
    source="Falcon in transformers",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k) + bias * q.shape[-1] ** -0.5)},
)

unscaled = Mutant(
    "ALIBI-unscaled",
    story="the scores are not scaled, as if the bias took the scale's place",
    breaks={"ALIBI-SCALE-1"},
    hint="the scores are q·k/√E, with ALiBi as without",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k, 1.0) + bias)},
)

scaled_by_width = Mutant(
    "ALIBI-scaled-by-model",
    story="the scores are divided by the root of all heads' widths",
    breaks={"ALIBI-SCALE-1"},
    hint="E is the width of one head",
    replace={
        alibi.alibi_attention: attending(lambda q, k, bias: product(q, k, (q.shape[1] * q.shape[-1]) ** -0.5) + bias)
    },
)

multiplied = Mutant(
    "ALIBI-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: product(q, k) * bias)},
)

after_softmax = Mutant(
    "ALIBI-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k), after=lambda weights, bias: weights + bias * (weights > 0)
        )
    },
)

weights_multiplied = Mutant(
    "ALIBI-weights-multiplied",
    story="the weights are multiplied by e^bias after the softmax, and no longer sum to 1",
    breaks={"ALIBI-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k), after=lambda weights, bias: weights * bias.exp()
        )
    },
)

causality_ignored = Mutant(
    "ALIBI-not-causal",
    story="the bias is taken for the causal mask: later keys are penalised, but seen",
    breaks={"ALIBI-CAUSAL-1"},
    hint="a penalty hides nothing: the causal mask is needed as well",
    replace={alibi.alibi_attention: lambda q, k, v, causal=True: alibi.alibi_attention(q, k, v, False)},
)


def by_sample(q, k, bias):
    """The heads of all samples on one axis, head by head instead of sample by sample."""
    B, H = q.shape[:2]
    return product(q, k) + bias.repeat_interleave(B, dim=0).unflatten(0, (B, H))


slopes_by_sample = Mutant(
    "ALIBI-slopes-by-sample",
    story="the slopes are repeated for an axis of B·H in the wrong order: samples have different slopes",
    breaks={"ALIBI-SAMPLE-1"},
    hint="where samples and heads share an axis the heads run fastest: repeat, not repeat_interleave",
    replace={alibi.alibi_attention: attending(by_sample)},
)

promoted = Mutant(
    "ALIBI-promoted",
    story="a bias in float32 turns the output of half precision into float32",
    breaks={"CALL-DTYPE-1"},
    hint="cast the weights to the dtype of the values before the sum",
    replace={
        alibi.alibi_attention: attending(
            lambda q, k, bias: product(q, k) + bias,
            bias_as=lambda bias, q: bias.to(torch.promote_types(q.dtype, torch.float32)),
        )
    },
)

cut_off = Mutant(
    "ALIBI-cut-off",
    story="the scores are cut off from the gradient where the bias is added in place",
    breaks={"ALIBI-ORACLE-1"},
    hint="add the bias without .data, .detach() or no_grad",
    replace={alibi.alibi_attention: attending(lambda q, k, bias: (product(q, k) + bias).detach())},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "ALIBI-ALIGN-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "ALIBI-CAUSAL-1", "no key is read, later ones included"),
    Vacuous(
        NUMBERS,
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1",
        "no penalty is linear in the distance, and so are 0, 1, 2, …",
        components=("alibi",),
    ),
    Vacuous(CONSTANT, "ALIBI-BOTH-1", "the same on both sides", components=("alibi",)),
    Vacuous(("echo",), "ALIBI-SIGN-1", "0, 1, 2, … are larger for nearer keys", components=("alibi",)),
    Vacuous(
        ZERO_APART,
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1 ALIBI-BOTH-1 ALIBI-WIDTH-1 ALIBI-SAMPLE-1",
        "equal weights have log odds of 0, which is linear in the distance",
        components=("alibi_attention",),
    ),
)
