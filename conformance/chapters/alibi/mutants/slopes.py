"""Ways to get ALiBi wrong: slopes."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import alibi


def powers(exponent):
    """Return geometric with 2^exponent(h, H), h = 1, …, H."""

    def geometric(heads):
        h = torch.arange(1, heads + 1, dtype=torch.float64)
        return 2.0 ** exponent(h, heads)

    return geometric


def whatever_heads(exponent):
    """Return the replacement of the slopes by 2^exponent(h, H), also where H is no power of two."""
    return {alibi.slopes: powers(exponent)}


from_one = Mutant(
    "ALIBI-from-one",
    story="the slopes begin with 1: the heads are counted from 0",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H for h = 1, …, H",
    replace={alibi.geometric: powers(lambda h, heads: -8 * (h - 1) / heads)},
    variants=[whatever_heads(lambda h, heads: -8 * (h - 1) / heads)],
    source="aprender#2143",
)

halves = Mutant(
    "ALIBI-halves",
    story="every head has half the slope of the one before, however many there are: right for 8 heads only",
    breaks={"ALIBI-SLOPE-1"},
    hint="the exponent is -8h/H; it is -h for 8 heads only",
    replace={alibi.geometric: powers(lambda h, heads: -h)},
    variants=[whatever_heads(lambda h, heads: -h)],
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
    variants=[whatever_heads(lambda h, heads: -h / heads)],
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
    variants=[whatever_heads(lambda h, heads: -torch.linspace(1, 8, heads, dtype=torch.float64))],
)

base_e = Mutant(
    "ALIBI-base-e",
    story="the slopes are powers of e",
    breaks={"ALIBI-SLOPE-1"},
    hint="the base is 2",
    replace={alibi.geometric: powers(lambda h, heads: -8 * h / heads * torch.e)},
    variants=[whatever_heads(lambda h, heads: -8 * h / heads * torch.e)],
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
    variants=[whatever_heads(lambda h, heads: -8 * (heads + 1 - h) / heads)],
)

one_slope = Mutant(
    "ALIBI-one-slope",
    story="all heads have one slope, the mean",
    breaks={"ALIBI-HEAD-1"},
    hint="every head has its own slope: (H, 1, 1) times (L, S)",
    replace={alibi.slopes: lambda heads: alibi.slopes(heads).mean().expand(heads)},
)
