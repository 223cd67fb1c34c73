"""Ways to get sinusoidal wrong: the reference with one function replaced."""

import math

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import sinusoidal


def pairs_of(dim):
    """Return the numbers 0, 1, … of the pairs of features, float64."""
    return torch.arange(0, dim, 2, dtype=torch.float64) / 2


# -- what comes out


def concatenate(x, encoded):
    return torch.cat([x, encoded.to(x.dtype).expand_as(x)], dim=-1)


concatenated = Mutant(
    "SIN-concatenated",
    story="the encoding is concatenated to x instead of added",
    breaks={"CALL-SHAPE-1"},
    hint="add: the width stays dim, and no later layer has to grow",
    replace={sinusoidal.add: concatenate},
    source="llm-first-principles, stage 5",
)


promoted = Mutant(
    "SIN-promoted",
    story="the table keeps its own dtype, and the output takes it over",
    breaks={"CALL-DTYPE-1"},
    hint="convert the table to the dtype of x before it is added",
    replace={sinusoidal.add: lambda x, encoded: x + encoded},
)


def counting_on(config, weights):
    seen = 0

    def forward(x, *, positions=None):
        nonlocal seen
        if positions is None:
            positions = torch.arange(seen, seen + x.shape[1])
            seen += x.shape[1]
        return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))

    return forward


def table_of_the_first_call(config, weights):
    table = None

    def forward(x, *, positions=None):
        nonlocal table
        if positions is not None:
            return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))
        table = sinusoidal.encode(sinusoidal.count(x), config.dim, config.base) if table is None else table
        return sinusoidal.drop(sinusoidal.add(x, table[: x.shape[1]]), adapter.active_dropout(config))

    return forward


first_length_kept = Mutant(
    "SIN-first-length-kept",
    story="the table is made for the length of the first call, and a longer one later raises",
    breaks={"CALL-REPEAT-1"},
    raises={"CALL-REPEAT-1"},
    hint="make a new table when a call is longer than it: if L > len(table), not if table is None",
    replace={adapter.sinusoidal: table_of_the_first_call},
)

counts_on = Mutant(
    "SIN-counts-on",
    story="a call begins to count where the call before it ended",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call; who decodes step by step gives positions",
    replace={adapter.sinusoidal: counting_on},
)

only_square = Mutant(
    "SIN-only-square",
    story="the table is (length, 1, dim), as for sequences that come first: added to (batch, length, dim) it runs only "
    "where there are as many samples as tokens",
    breaks={"CALL-SHAPE-1"},
    hint="unsqueeze(0), not unsqueeze(1): (1, length, dim) broadcasts over the samples",
    replace={sinusoidal.add: lambda x, encoded: x + encoded.unsqueeze(1).to(x.dtype)},
    source="the tutorial module of PyTorch used with batch_first",
)


def cut_by_batch(x, encoded):
    return x + sinusoidal.encode(torch.arange(x.shape[0]), x.shape[2]).to(x.dtype)


cut_by_the_batch = Mutant(
    "SIN-cut-by-the-batch",
    story="the table is cut to as many rows as there are samples: it runs only where there are as many tokens",
    breaks={"CALL-SHAPE-1"},
    hint="cut it by the axis of the tokens: x.size(1) where the batch comes first, x.size(0) where the sequence does",
    replace={sinusoidal.add: cut_by_batch},
    source="the tutorial module of PyTorch used with batch_first",
)

# -- what is added, and to what


def add_to(x, encoded):
    return x + encoded.to(x.dtype)


never_assigned = Mutant(
    "SIN-never-assigned",
    story="sines and cosines are computed and never written into the table, which stays zero",
    breaks={"SIN-ORDER-1"},
    hint="assign them: table[:, 0::2] = angles.sin(); table[:, 1::2] = angles.cos()",
    replace={sinusoidal.interleave: lambda theta, dim: theta.new_zeros(*theta.shape[:-1], dim)},
    source="system 3a",
)

same_everywhere = Mutant(
    "SIN-same-everywhere",
    story="every token gets the encoding of the first position",
    breaks={"SIN-ORDER-1"},
    hint="one row for each token: table[:L], not table[0]",
    replace={sinusoidal.count: lambda x: torch.zeros(x.shape[1], dtype=torch.int64)},
)


def along_batch(x, encoded):
    table = sinusoidal.encode(torch.arange(x.shape[0]), x.shape[2])
    return x + table[:, None].to(x.dtype)


along_the_batch = Mutant(
    "SIN-along-the-batch",
    story="positions run along the batch, as if the sequence came first",
    breaks={"SIN-BATCH-1"},
    hint="the batch comes first here: x + table[: x.size(1)]",
    replace={sinusoidal.add: along_batch},
    source="influenza_transformer#9; the tutorial module of PyTorch used with batch_first",
)

multiplied = Mutant(
    "SIN-multiplied",
    story="x is multiplied by the encoding",
    breaks={"SIN-ORDER-1"},
    hint="add the encoding",
    replace={sinusoidal.add: lambda x, encoded: x * encoded.to(x.dtype)},
)

counted_over_the_batch = Mutant(
    "SIN-counted-over-the-batch",
    story="the second sample goes on counting where the first ended",
    breaks={"SIN-BATCH-1"},
    hint="every sample has the positions 0, 1, …, L - 1",
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[0] * x.shape[1]).view(x.shape[:2])},
)

input_dropped = Mutant(
    "SIN-input-dropped",
    story="the encoding replaces x instead of being added: x = table[:L]",
    breaks={"SIN-ADD-1"},
    hint="return x + table[:L]",
    replace={sinusoidal.add: lambda x, encoded: encoded.to(x.dtype).expand_as(x) + 0 * x},
)

input_doubled = Mutant(
    "SIN-input-doubled",
    story="x is added twice",
    breaks={"SIN-ADD-1"},
    hint="the sum has x once: the residual connection is not this module's business",
    replace={sinusoidal.add: lambda x, encoded: add_to(x, encoded) + x},
)

undeclared_scale = Mutant(
    "SIN-undeclared-scale",
    story="x is multiplied by √dim, and nobody says so",
    breaks={"SIN-ADD-1"},
    hint='declare sinusoidal-output = "scaled-add", or leave √dim to the embedding',
    replace={sinusoidal.add: lambda x, encoded: add_to(x * x.shape[-1] ** 0.5, encoded)},
    source="OpenNMT-py#1722",
)

sum_scaled = Mutant(
    "SIN-sum-scaled",
    story="x is multiplied by √dim after the encoding has been added",
    breaks={"SIN-ADD-1", "SIN-PAIR-1"},
    hint="scale the embedding first, then add the encoding as it is",
    replace={sinusoidal.add: lambda x, encoded: add_to(x, encoded) * x.shape[-1] ** 0.5},
    source="OpenNMT-py#1328",
)


def add_normalised(x, encoded):
    size = x.square().mean(dim=-1, keepdim=True).sqrt()
    return x + encoded.to(x.dtype) * torch.where(size > 0, size, 1.0).to(x.dtype)


depends_on_input = Mutant(
    "SIN-depends-on-input",
    story="the encoding is scaled to the size of the token that it is added to",
    breaks={"SIN-ADD-1"},
    hint="add the same to every token of a position",
    replace={sinusoidal.add: add_normalised},
)


def as_loud_as(size):
    """Return an addition that scales the encoding of each token by the size of its features."""
    return {sinusoidal.add: lambda x, encoded: x + size(x.detach()) * encoded.to(x.dtype)}


scaled_by_loudness = Mutant(
    "SIN-as-loud-as-the-token",
    story="the encoding is multiplied by the size of the token's features: one of zeros gets none",
    breaks={"SIN-ORDER-1"},
    hint="add the same to every token of a position, whatever its features are",
    replace=as_loud_as(lambda x: x.abs().mean(dim=-1, keepdim=True)),
    variants=[
        as_loud_as(lambda x: x.square().mean(dim=-1, keepdim=True).sqrt()),
        as_loud_as(lambda x: x.norm(dim=-1, keepdim=True)),
        as_loud_as(lambda x: x.std(dim=-1, keepdim=True)),
        as_loud_as(lambda x: x.std(dim=-1, keepdim=True, correction=0)),
        as_loud_as(lambda x: x.abs().amax(dim=-1, keepdim=True)),
    ],
)

# -- sines and cosines


def with_own_exponents(positions, dim, base=10000.0):
    theta = sinusoidal.angles(positions, base ** (-torch.arange(dim, dtype=torch.float64) / dim))
    return torch.where(torch.arange(dim) % 2 == 0, theta.sin(), theta.cos())


cosine_with_its_own_exponent = Mutant(
    "SIN-cosine-own-exponent",
    story="feature j has the exponent j/d: a cosine's is (2i+1)/d, not 2i/d as that of its sine",
    breaks={"SIN-PAIR-1"},
    hint="both features of a pair have the exponent 2i/d: 2 * (j // 2) / d",
    replace={sinusoidal.encode: with_own_exponents},
    source="tensorflow/docs, positional encoding written with one loop over features",
)


def with_doubled_numbers(positions, dim, base=10000.0):
    theta = sinusoidal.angles(positions, base ** (-2 * torch.arange(dim, dtype=torch.float64) / dim))
    return torch.where(torch.arange(dim) % 2 == 0, theta.sin(), theta.cos())


doubled_numbers = Mutant(
    "SIN-feature-number-doubled",
    story="feature j has the exponent 2j/d, where j goes in steps of 2 already, and a cosine that of its own number",
    breaks={"SIN-PAIR-1"},
    hint="for i in range(0, d, 2): both features, i and i + 1, have the exponent i/d",
    replace={sinusoidal.encode: with_doubled_numbers},
    source="SamLynnEvans/Transformer#25",
)

whole_numbers = Mutant(
    "SIN-whole-numbers",
    story="the table is of whole numbers: sines and cosines are cut to -1, 0 and 1",
    breaks={"SIN-ORDER-1"},
    hint="make the table of floating-point numbers: torch.zeros(length, dim) without an integer dtype",
    replace={sinusoidal.interleave: lambda theta, dim: sinusoidal.interleave(theta, dim).trunc()},
)


def shifted_cosines(theta, dim):
    """Each cosine has the angle of the next pair; the last its own."""
    following = torch.cat([theta[..., 1:], theta[..., -1:]], dim=-1)
    return torch.stack([theta.sin(), following.cos()], dim=-1).flatten(-2)[..., :dim]


cosine_of_next = Mutant(
    "SIN-cosine-of-next",
    story="a cosine has the frequency of the next pair",
    breaks={"SIN-PAIR-1"},
    hint="both features of a pair have the exponent 2i/d",
    replace={sinusoidal.interleave: shifted_cosines},
    source="SamLynnEvans/Transformer#25; PapersReimplementations#9; DeepCTR#379",
)

undeclared_halves = Mutant(
    "SIN-undeclared-halves",
    story="all sines stand before all cosines, and nobody says so",
    breaks={"SIN-PAIR-1"},
    hint='declare sinusoidal-layout = "halves", or interleave them',
    replace={
        sinusoidal.interleave: lambda theta, dim: torch.cat([theta.sin(), theta.cos()], dim=-1)[..., :dim],
    },
    source="tensor2tensor#177; tensorflow#37191",
)

sines_only = Mutant(
    "SIN-sines-only",
    story="both features of a pair are the sine",
    breaks={"SIN-PAIR-1"},
    hint="the odd features are cosines",
    replace={sinusoidal.interleave: lambda theta, dim: theta.sin().repeat_interleave(2, dim=-1)[..., :dim]},
)

swapped = Mutant(
    "SIN-swapped",
    story="cosines stand in the even features, sines in the odd ones",
    breaks={"SIN-ZERO-1"},
    hint="sines first: row 0 is 0, 1, 0, 1, …",
    replace={
        sinusoidal.interleave: lambda theta, dim: torch.stack([theta.cos(), theta.sin()], -1).flatten(-2)[..., :dim],
    },
    source="Deep-ML#495",
)

from_one = Mutant(
    "SIN-from-one",
    story="positions are counted from 1",
    breaks={"SIN-ZERO-1"},
    hint='the first position is 0, torch.arange(L); or declare sinusoidal-offset = "1"',
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[1]) + 1},
)

from_the_end = Mutant(
    "SIN-from-the-end",
    story="positions are counted backwards, from the last token",
    breaks={"SIN-ZERO-1"},
    hint="the first token is at position 0",
    replace={sinusoidal.count: lambda x: torch.arange(x.shape[1]).flip(0)},
)

# -- angles and frequencies

squared_positions = Mutant(
    "SIN-squared-positions",
    story="the angle grows with the square of the position",
    breaks={"SIN-SHIFT-1", "SIN-GRID-5"},
    hint="the angle is p·ω",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions * positions, omega)},
)

logarithmic = Mutant(
    "SIN-logarithmic",
    story="the angle grows with the logarithm of 1 + p",
    breaks={"SIN-SHIFT-1"},
    hint="the angle is p·ω: equal steps turn by equal angles",
    replace={sinusoidal.count: lambda x: (1 + torch.arange(x.shape[1]).double()).log2()},
)

double_step = Mutant(
    "SIN-double-step",
    story="the exponent is 2i/d where i goes in steps of 2 already, so 4i/d",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="range(0, d, 2) is 2i: the exponent is then i/d",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-4 * pairs_of(dim) / dim)},
    source="SamLynnEvans/Transformer#25; intro-llm#34",
)

half_exponent = Mutant(
    "SIN-half-exponent",
    story="the exponent is i/d instead of 2i/d",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="pair i has the exponent 2i/d",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-pairs_of(dim) / dim)},
    source="slippi-ai#24",
)


def with_logarithm_of(quotient):
    """Frequencies exp(-2i·log(quotient)), where exp(-2i·log(base)/dim) was meant."""
    return {sinusoidal.frequencies: lambda dim, base: quotient(dim, base) ** (-2 * pairs_of(dim))}


logarithm_of_quotient = Mutant(
    "SIN-logarithm-of-quotient",
    story="the exponent is 2i·log(10000 / d), where 2i·log(10000) / d is meant",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="close the bracket of the logarithm before the division: math.log(10000.0) / d",
    replace=with_logarithm_of(lambda dim, base: base / dim),
    variants=[
        with_logarithm_of(lambda dim, base: 1000.0 / dim),
        {
            sinusoidal.frequencies: lambda dim, base: torch.exp(
                torch.arange(0, dim, 2).float() * -math.log(base / dim)
            ).double()
        },
        {
            sinusoidal.frequencies: lambda dim, base: torch.exp(
                torch.arange(0, dim, 2).float() * -math.log(1000.0 / dim)
            ).double()
        },
    ],
)

half_width = Mutant(
    "SIN-half-width",
    story="2i is divided by d // 2",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="divide 2i by d, or i by d / 2",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-2 * pairs_of(dim) / (dim // 2))},
    source="kornia#4165",
)

# Ways to write 10000^(±2i/d) in float32, whose last digits angles of thousands of radians tell apart.
POWERS = (
    lambda dim, base, sign: torch.pow(base, sign * torch.arange(0, dim, 2).float() / dim),
    lambda dim, base, sign: torch.exp(torch.arange(0, dim, 2).float() * (sign * math.log(base) / dim)),
    lambda dim, base, sign: torch.pow(base, torch.arange(0, dim, 2).float() / dim) ** sign,
    lambda dim, base, sign: (base ** (sign * 2 * pairs_of(dim) / dim)).float(),
)


def times_power(power):
    return {
        sinusoidal.frequencies: lambda dim, base: power(dim, base, 1),
        sinusoidal.angles: lambda positions, omega: (positions.float()[..., None] * omega).double(),
    }


def over_inverse(power):
    return {
        sinusoidal.frequencies: lambda dim, base: power(dim, base, -1),
        sinusoidal.angles: lambda positions, omega: (positions.float()[..., None] / omega).double(),
    }


multiplied_by_power = Mutant(
    "SIN-multiplied-by-power",
    story="the position is multiplied by 10000^(2i/d) instead of divided",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="the exponent is negative: p·base^(-2i/d)",
    replace={sinusoidal.frequencies: lambda dim, base: base ** (2 * pairs_of(dim) / dim)},
    variants=[times_power(power) for power in POWERS],
    source="annotated-transformer#131",
)

inverted_twice = Mutant(
    "SIN-inverted-twice",
    story="the position is divided by the frequency, which had been inverted already",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="multiply by 1/10000^(2i/d), or divide by 10000^(2i/d), not both",
    replace=over_inverse(POWERS[-1]),
    variants=[over_inverse(power) for power in POWERS[:-1]],
    source="system 3a",
)

undeclared_endpoint = Mutant(
    "SIN-undeclared-endpoint",
    story="the exponents run to 1 inclusive, and nobody says so",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint='declare sinusoidal-frequencies = "endpoint", or divide by d / 2 instead of d / 2 - 1',
    replace={sinusoidal.frequencies: lambda dim, base: base ** (-pairs_of(dim) / max((dim + 1) // 2 - 1, 1))},
    source="tensor2tensor; fairseq",
)

integer_exponent = Mutant(
    "SIN-integer-exponent",
    story="the exponent is computed by whole-number division: 2i // d is 0",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="divide with /",
    replace={sinusoidal.frequencies: lambda dim, base: base ** -(2 * pairs_of(dim) // dim)},
)

backwards = Mutant(
    "SIN-backwards",
    story="pairs turn the other way round: the angle is -p·ω",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="sin(p·ω), cos(p·ω)",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, -omega)},
)

in_turns = Mutant(
    "SIN-in-turns",
    story="the angle is 2π·p·ω",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="frequencies are in radians per token",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, 6.283185307179586 * omega)},
)

in_degrees = Mutant(
    "SIN-in-degrees",
    story="the angles are taken for degrees",
    breaks={"SIN-ORDER-1", "SIN-GRID-5"},
    hint="p·ω is in radians already: no deg2rad, no π / 180",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions, omega * math.pi / 180)},
)

base_1000 = Mutant(
    "SIN-base-1000",
    story="the base is 1000 where it should be 10000",
    breaks={"SIN-FREQ-1", "SIN-GRID-5"},
    hint="the base is 10000: count the zeros",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, base / 10)},
)

base_ignored = Mutant(
    "SIN-base-ignored",
    story="the base is always 10000, whatever the configuration says",
    breaks={"SIN-BASE-1", "SIN-GRID-6"},
    hint="use config.base; a table that is kept for later calls belongs to its base as well",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, 10000.0)},
)


def odd_last_zero(theta, dim):
    encoded = sinusoidal.interleave(theta, dim)
    return torch.cat([encoded[..., :-1], 0 * encoded[..., -1:]], dim=-1) if dim % 2 else encoded


odd_feature_left_zero = Mutant(
    "SIN-odd-feature-left-zero",
    story="with an odd width the last feature stays zero",
    breaks={"SIN-ODD-1"},
    hint="the last feature is the sine of the last pair; only its cosine has no place",
    replace={sinusoidal.interleave: odd_last_zero},
    source="pyaptamer#607; BERT-pytorch#78",
)

odd_width_rounded = Mutant(
    "SIN-odd-width-rounded",
    story="with an odd width the exponents are those of the next even one",
    breaks={"SIN-ODD-1"},
    hint="divide by the width that there is",
    replace={sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim + dim % 2, base)},
)

# -- tables that end


def from_table(size, fetch):
    """Return a component that fetches from a table of ``size(max_len)`` rows where no positions are given."""

    def component(config, weights):
        table = sinusoidal.encode(torch.arange(size(config.max_len)), config.dim, config.base)

        def forward(x, *, positions=None):
            if positions is not None:
                return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))
            encoded = fetch(table, torch.arange(x.shape[1]))
            return sinusoidal.drop(sinusoidal.add(x, encoded), adapter.active_dropout(config))

        return forward

    return component


one_row_short = Mutant(
    "SIN-one-row-short",
    story="the table has max_len - 1 rows, and its last row serves twice",
    breaks={"SIN-MAXLEN-1"},
    hint="torch.arange(max_len) has max_len numbers, the last of them max_len - 1",
    replace={
        adapter.sinusoidal: from_table(lambda n: n - 1, lambda table, p: table[p.clamp(max=len(table) - 1)]),
    },
)

one_row_missing = Mutant(
    "SIN-one-row-missing",
    story="the table has max_len - 1 rows: the longest sequence raises",
    breaks={"SIN-MAXLEN-1"},
    hint="torch.arange(max_len) has max_len numbers, the last of them max_len - 1",
    replace={adapter.sinusoidal: from_table(lambda n: n - 1, lambda table, p: table[p])},
    raises={"SIN-MAXLEN-1"},
)

stretched = Mutant(
    "SIN-stretched",
    story="positions are stretched so that max_len is always 64",
    breaks={"SIN-MAXLEN-1"},
    hint="positions are in tokens: a step is 1, however long a sequence may be",
    replace={
        adapter.sinusoidal: lambda config, weights: (
            lambda x, *, positions=None: sinusoidal.sinusoidal(
                x,
                (sinusoidal.count(x) if positions is None else positions) * (max(64 / config.max_len, 1.0)),
                config.base,
                adapter.active_dropout(config),
            )
        ),
    },
)

wrapped = Mutant(
    "SIN-wrapped",
    story="beyond max_len positions begin again at 0",
    breaks={"SIN-BEYOND-1"},
    hint="compute further rows, or raise an error",
    replace={adapter.sinusoidal: from_table(lambda n: n, lambda table, p: table[p % len(table)])},
    source="llm-first-principles, stage 6",
)

clamped = Mutant(
    "SIN-clamped",
    story="beyond max_len all tokens get the last row",
    breaks={"SIN-BEYOND-1"},
    hint="compute further rows, or raise an error",
    replace={adapter.sinusoidal: from_table(lambda n: n, lambda table, p: table[p.clamp(max=len(table) - 1)])},
)


def truncating(config, weights):
    def forward(x, *, positions=None):
        if positions is None:
            x = x[:, : config.max_len]
        return sinusoidal.sinusoidal(x, positions, config.base, adapter.active_dropout(config))

    return forward


truncated = Mutant(
    "SIN-truncated",
    story="tokens beyond max_len are cut off",
    breaks={"SIN-BEYOND-1"},
    hint="compute further rows, or raise an error: the caller must know",
    replace={adapter.sinusoidal: truncating},
)


def at_most_512(positions, omega):
    return sinusoidal.angles(torch.where(positions < 512, positions, positions % 512), omega)


wrapped_at_512 = Mutant(
    "SIN-wrapped-at-512",
    story="a table of 512 rows serves every length, over and over",
    breaks={"SIN-LONG-1"},
    hint="make the table as long as config.max_len",
    replace={sinusoidal.angles: at_most_512},
)


def in_bits(first, count):
    """Return angles of positions in an integer type of ``count`` numbers from ``first`` on."""

    def angles(positions, omega):
        kept = (positions - first) % count + first
        return sinusoidal.angles(torch.where((positions < 0) | (positions % 1 != 0), positions, kept), omega)

    return {sinusoidal.angles: angles}


eight_bits = Mutant(
    "SIN-eight-bits",
    story="positions are kept in eight bits, and begin again after 255 or 127",
    breaks={"SIN-LONG-1"},
    hint="count in int64, as torch.arange does",
    replace=in_bits(0, 256),
    variants=[in_bits(-128, 256)],
)

# -- precision

positions_in_float16 = Mutant(
    "SIN-positions-in-float16",
    story="positions are counted in float16, which has no odd numbers beyond 2048",
    breaks={"SIN-LONG-1"},
    hint="count in integers, or in float32",
    replace={sinusoidal.angles: lambda positions, omega: sinusoidal.angles(positions.half(), omega)},
    source="transformers#28837",
)


def in_dtype_of_x(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    sinusoidal.refuse_positions(positions, x)
    omega = sinusoidal.frequencies(x.shape[-1], base)
    if x.dtype in (torch.bfloat16, torch.float16):
        positions, omega = positions.to(x.dtype), omega.to(x.dtype)
        theta = (positions[..., None] * omega).double()  # the product is rounded too
    else:
        theta = sinusoidal.angles(positions, omega)
    return sinusoidal.drop(sinusoidal.add(x, sinusoidal.interleave(theta, x.shape[-1])), dropout)


table_in_half = Mutant(
    "SIN-table-in-half",
    story="the table is computed in the dtype of the module: in bfloat16 positions coincide from 257 on",
    breaks={"SIN-HALF-1"},
    hint="compute in float32 and convert the finished table",
    replace={sinusoidal.sinusoidal: in_dtype_of_x},
    source="transformers#29496 and gpt-neox#1003, of rotary positions",
)


def with_rounded_frequencies(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    sinusoidal.refuse_positions(positions, x)
    omega = sinusoidal.frequencies(x.shape[-1], base)
    if x.dtype in (torch.bfloat16, torch.float16):
        omega = omega.to(x.dtype).double()
    theta = sinusoidal.angles(positions, omega)
    return sinusoidal.drop(sinusoidal.add(x, sinusoidal.interleave(theta, x.shape[-1])), dropout)


frequencies_in_half = Mutant(
    "SIN-frequencies-in-half",
    story="the frequencies are a buffer that is cast with the module",
    breaks={"SIN-HALF-1"},
    hint="keep them in float32, or compute them when they are used",
    replace={sinusoidal.sinusoidal: with_rounded_frequencies},
    source="transformers#25681, of rotary positions",
)


def in_float16(x, positions=None, base=10000.0, dropout=0.0):
    positions = sinusoidal.count(x) if positions is None else positions
    return sinusoidal.sinusoidal(x, positions.half() if x.dtype == torch.float16 else positions, base, dropout)


positions_in_float16 = Mutant(
    "SIN-positions-in-float16",
    story="positions have the dtype of x where that is float16, which has no odd numbers beyond 2048",
    breaks={"SIN-HALF-1"},
    hint="count in integers, or in float32",
    replace={sinusoidal.sinusoidal: in_float16},
    source="transformers#28837, of rotary positions",
)

# -- positions that are given


def with_positions(change):
    """Return sinusoidal with the given positions changed on their way in; change(positions, x)."""

    def changed(x, positions=None, base=10000.0, dropout=0.0):
        if positions is not None:
            sinusoidal.refuse_positions(positions, x)
            positions = change(positions, x)
        return sinusoidal.sinusoidal(x, positions, base, dropout)

    return changed


positions_ignored = Mutant(
    "SIN-positions-ignored",
    story="given positions are ignored: it always counts from 0",
    breaks={"SIN-POS-1"},
    hint="encode the positions that are given; counting is for when there are none",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: None)},
)

only_offset = Mutant(
    "SIN-only-offset",
    story="of given positions only the first is read, and counted from",
    breaks={"SIN-POS-1"},
    hint="encode each position as it is given",
    replace={
        sinusoidal.sinusoidal: with_positions(
            lambda positions, x: positions[..., :1] + torch.arange(x.shape[1], dtype=positions.dtype)
        ),
    },
)

first_positions = Mutant(
    "SIN-first-positions",
    story="all samples get the positions of the first",
    breaks={"SIN-POS-2"},
    hint="index with the whole of (B, L)",
    replace={
        sinusoidal.sinusoidal: with_positions(lambda positions, x: positions[0] if positions.ndim == 2 else positions),
    },
)

negative_from_end = Mutant(
    "SIN-negative-from-end",
    story="a negative position takes a row from the table's end",
    breaks={"SIN-POS-3"},
    hint="indexing by -1 is the last row: compute, or raise an error",
    replace={
        sinusoidal.sinusoidal: with_positions(
            lambda positions, x: torch.where(positions < 0, positions + 64, positions)
        ),
    },
)

absolute_positions = Mutant(
    "SIN-absolute-positions",
    story="the sign of a position is lost",
    breaks={"SIN-POS-3"},
    hint="sin(-p·ω) is -sin(p·ω)",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: positions.abs())},
)

whole_positions = Mutant(
    "SIN-whole-positions",
    story="fractions of positions are cut off",
    breaks={"SIN-POS-4"},
    hint="compute with what is given, or refuse what is not whole",
    replace={sinusoidal.sinusoidal: with_positions(lambda positions, x: positions.long())},
)

misfits_broadcast = Mutant(
    "SIN-misfits-broadcast",
    story="a single position is broadcast over all tokens",
    breaks={"SIN-POS-5"},
    hint="compare the shape of the positions with that of x",
    replace={sinusoidal.refuse_positions: lambda positions, x: None},
)

# -- training

detached = Mutant(
    "SIN-detached",
    story="the gradient does not reach x",
    breaks={"SIN-GRAD-1"},
    hint="only the table needs no gradient: no detach, no no_grad around the sum",
    replace={sinusoidal.add: lambda x, encoded: add_to(x.detach(), encoded)},
)

gradient_scaled = Mutant(
    "SIN-gradient-scaled",
    story="the gradient of x is scaled, the output is not",
    breaks={"SIN-GRAD-1"},
    hint="what is added is a constant: the gradient passes as it is",
    replace={sinusoidal.add: lambda x, encoded: add_to(2 * x - x.detach(), encoded)},
)

dropout_in_evaluation = Mutant(
    "SIN-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"SIN-DROP-1"},
    hint="use nn.Dropout, and call eval()",
    replace={adapter.active_dropout: lambda config: config.dropout},
)

dropout_not_rescaled = Mutant(
    "SIN-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"SIN-DROP-2"},
    hint="use nn.Dropout",
    replace={
        sinusoidal.drop: lambda out, probability: (
            torch.dropout(out, probability, train=probability > 0) * (1 - probability)
        ),
    },
)

dropout_of_tokens = Mutant(
    "SIN-dropout-of-tokens",
    story="whole tokens are dropped",
    breaks={"SIN-DROP-2"},
    hint="drop elements one by one",
    replace={
        sinusoidal.drop: lambda out, probability: (
            out * torch.dropout(torch.ones_like(out[..., :1]), probability, train=probability > 0)
        ),
    },
)

# -- only all of it together shows

sixteen_frequencies = Mutant(
    "SIN-sixteen-frequencies",
    story="there are 16 frequencies, and wider models get them again",
    breaks={"SIN-ORACLE-1", "SIN-ORACLE-2"},
    hint="as many frequencies as pairs, whatever the width",
    replace={
        sinusoidal.frequencies: lambda dim, base: sinusoidal.frequencies(dim, base)[torch.arange((dim + 1) // 2) % 16],
    },
)

# -- on a grid

height_first = Mutant(
    "SIN-grid-height-first",
    story="the first half of the features encodes the row, and nobody says so",
    breaks={"SIN-GRID-3"},
    hint='declare grid-axes = "height-first", or put the column first',
    replace={
        sinusoidal.lay_out: lambda columns, rows: torch.cat(
            [rows[:, None].expand(-1, len(columns), -1), columns.expand(len(rows), -1, -1)], dim=-1
        ),
    },
    source="multidim-positional-encoding#22",
)

transposed = Mutant(
    "SIN-grid-transposed",
    story="height and width are mixed up: the grid comes out transposed",
    breaks={"CALL-SHAPE-1"},
    hint="the output is (height, width, dim); try a grid that is not square",
    replace={sinusoidal.lay_out: lambda columns, rows: sinusoidal.lay_out(columns, rows).transpose(0, 1)},
)

flattened = Mutant(
    "SIN-grid-flattened",
    story="the cells come out in one row",
    breaks={"CALL-SHAPE-1"},
    hint="the output is (height, width, dim)",
    replace={sinusoidal.lay_out: lambda columns, rows: sinusoidal.lay_out(columns, rows).flatten(0, 1)},
)

flattened_by_columns = Mutant(
    "SIN-grid-by-columns",
    story="cells are listed column by column and folded row by row",
    breaks={"SIN-GRID-3"},
    hint="the column runs fastest in a list of cells that is folded to (height, width)",
    replace={
        sinusoidal.lay_out: lambda columns, rows: (
            sinusoidal.lay_out(columns, rows).transpose(0, 1).reshape(len(rows), len(columns), -1)
        ),
    },
)

same_axis_twice = Mutant(
    "SIN-grid-same-axis-twice",
    story="both halves of the features encode the column",
    breaks={"SIN-GRID-3"},
    hint="one half for each axis",
    replace={
        sinusoidal.lay_out: lambda columns, rows: torch.cat([columns, columns], dim=-1).expand(len(rows), -1, -1),
    },
)

summed_axes = Mutant(
    "SIN-grid-summed",
    story="the encodings of row and column are added instead of concatenated",
    breaks={"SIN-GRID-3"},
    hint="half of the features for each axis: a sum does not tell (1, 2) from (2, 1)",
    replace={
        sinusoidal.lay_out: lambda columns, rows: (columns + rows[:, None]).repeat(1, 1, 2),
    },
)


def whole_width(positions, dim, base):
    """The exponent is divided by the width of both axes together."""
    theta = sinusoidal.angles(positions, sinusoidal.frequencies(2 * dim, base)[: dim // 2])
    return torch.cat([theta.sin(), theta.cos()], dim=-1)


width_of_both = Mutant(
    "SIN-grid-width-of-both",
    story="the exponent is divided by dim where each axis has dim / 2 features",
    breaks={"SIN-GRID-5"},
    hint="ω_i = base^(-2i/(dim/2))",
    replace={sinusoidal.halves: whole_width},
)

unit_square = Mutant(
    "SIN-grid-unit-square",
    story="positions are divided by the length of their axis",
    breaks={"SIN-GRID-5"},
    hint="positions are in cells: 0, 1, 2, …",
    replace={
        sinusoidal.halves: lambda positions, dim, base: sinusoidal.halves(
            positions.double() / len(positions), dim, base
        ),
    },
    source="DETR with normalize=True",
)

grid_interleaved = Mutant(
    "SIN-grid-interleaved",
    story="sines and cosines alternate within an axis, and nobody says so",
    breaks={"SIN-GRID-4"},
    hint='declare grid-layout = "interleaved", or put all sines of an axis first',
    replace={
        sinusoidal.halves: lambda positions, dim, base: sinusoidal.interleave(
            sinusoidal.angles(positions, sinusoidal.frequencies(dim, base)), dim
        ),
    },
    source="DETR",
)


def cosines_first(positions, dim, base):
    theta = sinusoidal.angles(positions, sinusoidal.frequencies(dim, base))
    return torch.cat([theta.cos(), theta.sin()], dim=-1)


grid_cosines_first = Mutant(
    "SIN-grid-cosines-first",
    story="cosines stand where sines belong",
    breaks={"SIN-GRID-8"},
    hint="sines first: cell (0, 0) begins with zeros",
    replace={sinusoidal.halves: cosines_first},
)

grid_from_one = Mutant(
    "SIN-grid-from-one",
    story="rows and columns are counted from 1",
    breaks={"SIN-GRID-8"},
    hint="the first is 0; a cumulative sum of ones begins at 1",
    replace={sinusoidal.halves: lambda positions, dim, base: sinusoidal.halves(positions + 1, dim, base)},
    source="DETR",
)


def rows_of_another_scale(height, width, dim, base=10000.0):
    sinusoidal.refuse_width(dim)
    columns = sinusoidal.halves(torch.arange(width), dim // 2, base)
    rows = sinusoidal.halves(torch.arange(height) * (width + 1) / (height + 2), dim // 2, base)
    return sinusoidal.lay_out(columns, rows)


rows_stretched = Mutant(
    "SIN-grid-rows-stretched",
    story="rows are stretched as if the grid were square",
    breaks={"SIN-GRID-7"},
    hint="a step is 1 along both axes",
    replace={sinusoidal.grid: rows_of_another_scale},
)

rows_left_out = Mutant(
    "SIN-grid-rows-left-out",
    story="features that two axes cannot share evenly all go to the column",
    breaks={"SIN-GRID-9"},
    hint="raise an error unless dim is a multiple of 4",
    replace={
        sinusoidal.grid: lambda height, width, dim, base=10000.0: (
            sinusoidal.halves(torch.arange(width), dim + dim % 2, base)[:, :dim].expand(height, -1, -1)
            if dim % 4
            else sinusoidal.grid(height, width, dim, base)
        ),
    },
)

other_width = Mutant(
    "SIN-grid-other-width",
    story="a dim that is no multiple of 4 is rounded up without a word",
    breaks={"SIN-GRID-9"},
    hint="raise an error unless dim is a multiple of 4",
    replace={sinusoidal.refuse_width: lambda dim: None},
)


def cached_by_cells(config, weights):
    tables = {}

    def forward(height, width):
        if height * width not in tables:
            table = sinusoidal.grid(height, width, config.dim, config.base)
            tables[height * width] = table.to(config.device, config.dtype)
        return tables[height * width].reshape(height, width, -1)

    return forward


grid_cached = Mutant(
    "SIN-grid-cached",
    story="a grid is kept by its number of cells, and serves the next of another shape",
    breaks={"CALL-REPEAT-1"},
    hint="keep it by height and width",
    replace={adapter.sinusoidal_2d: cached_by_cells},
)


def remembering_positions(config, weights):
    known = {}

    def forward(x, *, positions=None):
        positions = known.setdefault(x.shape[1], sinusoidal.count(x) if positions is None else positions)
        return adapter.sinusoidal(config, weights)(x, positions=positions)

    return forward


cached_by_length = Mutant(
    "SIN-cached-by-length",
    story="tables are cached by the number of tokens, whatever their positions",
    breaks={"SIN-POS-6"},
    hint="put the positions into the key of the cache",
    replace={adapter.sinusoidal: remembering_positions},
    source="rotary-embedding-torch#11, of rotary positions",
)

positions_not_taken = Mutant(
    "SIN-positions-not-taken",
    story="forward has no keyword for positions, and does not say so in words",
    breaks={"SIN-POS-1"},
    hint='take positions=None, and raise NotImplementedError("explicit positions") where they are given',
    replace={adapter.sinusoidal: lambda config, weights: lambda x: adapter.sinusoidal(config, weights)(x)},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "SIN-MAXLEN-1 SIN-BEYOND-1 SIN-DROP-1 SIN-POS-6",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "SIN-BATCH-1", "an output depends on the input in its own place, or on nothing"),
    Vacuous((*ZERO_APART, "echo"), "SIN-DROP-2", "a module without dropout is right, and not 0"),
    Vacuous(("echo",), "SIN-GRID-9", "0, 1, 2, … are different in every cell"),
    Vacuous(CONSTANT, "SIN-GRID-3 SIN-GRID-7", "features that are the same everywhere are so along each axis"),
    Vacuous(
        ZERO_APART,
        "SIN-SHIFT-1 SIN-POS-1 SIN-POS-2 SIN-POS-3",
        "what is the same at every position is so at all positions",
    ),
    Vacuous(("echo",), "SIN-ADD-1", "x + 0"),
    Vacuous(("echo",), "SIN-GRAD-1", "autograd differentiates what was computed"),
)
