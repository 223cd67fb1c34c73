"""Ways to get T5's relative bias wrong: relative positions."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import relative_bias as t5


def keys_alone(queries, keys):
    return (torch.arange(keys) - keys // 2).expand(queries, -1)


absolute = Mutant(
    "REL-absolute",
    story="the position is that of the key in the sequence, the same for every query",
    breaks={"REL-RELATIVE-1"},
    hint="the relative position is key - query",
    replace={t5.relative: keys_alone},
)

in_blocks = Mutant(
    "REL-in-blocks",
    story="positions of queries begin again every 4 tokens",
    breaks={"REL-RELATIVE-1"},
    hint="positions run through the whole sequence, whatever the tile",
    replace={t5.relative: lambda queries, keys: torch.arange(keys) - torch.arange(queries)[:, None] % 4},
)

aligned_right = Mutant(
    "REL-aligned-right",
    story="with more keys than queries the last query stands at the last key, where the other corner is declared",
    breaks={"REL-ALIGN-1"},
    hint='both count from 0; else declare "t5-alignment": "bottom-right"',
    replace={
        t5.relative: lambda queries, keys: torch.arange(keys) - torch.arange(keys - queries, keys)[:, None],
    },
    silent_on={"relative_bias_attention": "it has as many queries as keys"},
)
