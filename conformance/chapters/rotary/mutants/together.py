"""Ways to get rotary positions wrong: what shows only where two things come together."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import built, called, rotating
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary

default_base_where_partial = Mutant(
    "ROPE-partial-default-base",
    story="where fewer features turn than the head has, the base is 10000 whatever is configured",
    breaks={"ROPE-PART-1"},
    hint="hand the configured base on, to the branch for partial rotation too",
    replace={
        adapter.rotary: built(
            lambda config: config if config.rotary_dim == config.head_dim else replace(config, base=10000.0)
        )
    },
)

counted_from_the_first = Mutant(
    "ROPE-counted-from-the-first",
    story="positions (B, L) are counted from the smallest of them",
    breaks={"ROPE-POS-2"},
    hint="use positions as they are given; a batch need not begin at 0",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x, at if at is None or at.ndim == 1 else at - at.min()))
    },
)

positions_in_float16 = Mutant(
    "ROPE-positions-in-float16",
    story="positions have the dtype of the features where that is float16, which has no odd numbers beyond 2048",
    breaks={"ROPE-HALF-1"},
    hint="keep positions as integers or in float32: float16 counts to 2048",
    replace={
        rotary.rotate: rotating(
            lambda x, at, turned: turned(
                x, (rotary.count(x) if at is None else at).half() if x.dtype == torch.float16 else at
            )
        )
    },
    source="transformers#28837",
)

positions_not_taken = Mutant(
    "ROPE-positions-not-taken",
    story="forward has no keyword for positions, and does not say so in words",
    breaks={"ROPE-POS-1"},
    hint='take positions=None, and raise NotImplementedError("explicit positions") where they are given',
    replace={adapter.rotary: lambda config, weights: lambda x: adapter.rotary(config, weights)(x)},
)
