"""Ways to get sinusoidal positions wrong: tables that end."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import sinusoidal


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
    breaks={"SIN-LONG-1", "SIN-ORACLE-1"},
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
    breaks={"SIN-LONG-1", "SIN-ORACLE-1"},
    hint="count in int64, as torch.arange does",
    replace=in_bits(0, 256),
    variants=[in_bits(-128, 256)],
)
