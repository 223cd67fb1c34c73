"""Ways to get rotary positions wrong: what was asked before."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import placed
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary


def table_of_the_first_call(config, weights):
    rotate, longest = adapter.rotary(config, weights), None

    def forward(x, *, positions=None):
        nonlocal longest
        longest = longest or x.shape[-2]
        return rotate(x, positions=rotary.count(x).clamp(max=longest - 1) if positions is None else positions)

    return forward


def too_short_a_table(config, weights):
    rotate, longest = adapter.rotary(config, weights), None

    def forward(x, *, positions=None):
        nonlocal longest
        longest = longest or x.shape[-2]
        if positions is None and longest < x.shape[-2] and longest > 1:
            raise RuntimeError(f"a table of {longest} rows is multiplied with {x.shape[-2]} tokens")
        return rotate(x, positions=positions)

    return forward


first_length_kept = Mutant(
    "ROPE-first-length-kept",
    story="the table is made for the length of the first call, and a longer one later raises",
    breaks={"ROPE-CACHE-1"},
    raises={"ROPE-CACHE-1"},
    hint="make a new table when a call is longer than it: if L > len(table), not if table is None",
    replace={adapter.rotary: too_short_a_table},
)

stale_table = Mutant(
    "ROPE-table-never-grows",
    story="the table is made for the length of the first call, and longer calls get its last row",
    breaks={"ROPE-CACHE-1"},
    hint="make a new table when a call is longer than it",
    replace={adapter.rotary: table_of_the_first_call},
)


def stretched_for_good(config, weights):
    longest = 0

    def forward(x, *, positions=None):
        nonlocal longest
        earlier, longest = longest, max(longest, x.shape[-2])
        base = config.base * (2.0 if earlier > x.shape[-2] else 1.0)
        return adapter.rotary(replace(config, base=base), weights)(x, positions=positions)

    return forward


base_sticks = Mutant(
    "ROPE-base-sticks",
    story="frequencies that a long sequence changed stay changed for the short ones after it",
    breaks={"ROPE-CACHE-1"},
    hint="compute frequencies for this call, and do not keep them",
    replace={adapter.rotary: stretched_for_good},
)


def cached_by_length(config, weights):
    rotate, cache = adapter.rotary(config, weights), {}

    def forward(x, *, positions=None):
        at = rotary.count(x) if positions is None else positions
        return rotate(x, positions=cache.setdefault(x.shape[-2], at))

    return forward


offset_cached = Mutant(
    "ROPE-cached-by-length",
    story="tables are cached by the number of tokens, whatever their positions",
    breaks={"ROPE-CACHE-2"},
    hint="put the positions into the key of the cache",
    replace={adapter.rotary: cached_by_length},
    source="rotary-embedding-torch#11",
)

clamped = Mutant(
    "ROPE-clamped",
    story="tokens beyond max_len get the last position",
    breaks={"ROPE-MAX-1"},
    hint="make the table longer, or raise an error",
    replace={adapter.rotary: placed(lambda positions, config: positions.clamp(max=config.max_len - 1))},
)

wrapped = Mutant(
    "ROPE-wrapped",
    story="beyond max_len positions start anew at 0",
    breaks={"ROPE-MAX-1"},
    hint="make the table longer, or raise an error",
    replace={adapter.rotary: placed(lambda at, config: torch.where(at < config.max_len, at, at % config.max_len))},
)


def one_row_too_few(positions, config):
    if len(positions) > config.max_len - 1:
        raise IndexError(f"position {config.max_len - 1} is out of range")
    return positions


too_short = Mutant(
    "ROPE-one-row-too-few",
    story="the table has a row less than max_len",
    breaks={"ROPE-MAX-1"},
    hint="positions 0 … max_len - 1 are max_len rows",
    replace={adapter.rotary: placed(one_row_too_few)},
    raises={"ROPE-MAX-1"},
)
