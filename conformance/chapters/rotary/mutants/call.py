"""Ways to get rotary positions wrong: the call."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import built, called
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary
from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask

squeezed = Mutant(
    "ROPE-squeezed",
    story="axes of size 1 are squeezed away, and with them the one token of a decoding step",
    breaks={"ROPE-EDGE-1"},
    hint="name the axis that is squeezed, or squeeze none",
    replace={adapter.rotary: called(lambda x, at, rotate: rotate(x, at).squeeze(2))},
)


axes_swapped = Mutant(
    "ROPE-axes-swapped",
    story="the output is (B, L, H, E): heads and tokens are not swapped back",
    breaks={"CALL-SHAPE-1"},
    hint="return the axes in the order in which they came",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x, at).transpose(1, 2)),
        rotary.rotary_attention: lambda q, k, v, positions, omega, causal=False: rotary.rotary_attention(
            q, k, v, positions, omega, causal
        ).transpose(1, 2),
    },
)

promoted = Mutant(
    "ROPE-promoted",
    story="features in half precision times a float32 table stay float32",
    breaks={"CALL-DTYPE-2"},
    hint="convert the output back: .type_as(x)",
    replace={
        adapter.rotary: called(lambda x, at, rotate: rotate(x.to(torch.promote_types(x.dtype, torch.float32)), at))
    },
    source="transformers#25681",
)


def rotate_in_place(x, positions, omega, rotary_dim, size=1.0):
    x[..., :rotary_dim] = rotary.rotate(x, positions, omega, rotary_dim, size)[..., :rotary_dim]
    return x


in_place = Mutant(
    "ROPE-in-place",
    story="the input is turned in place",
    breaks={"CALL-IMMUT-1"},
    hint="write to a new tensor: the caller may still need the old one",
    replace={rotary.rotate: rotate_in_place},
)


def counting(config, weights):
    seen = 0

    def forward(x, *, positions=None):
        nonlocal seen
        at = rotary.count(x) + seen if positions is None else positions
        seen += x.shape[-2]
        return adapter.rotary(config, weights)(x, positions=at)

    return forward


counter_kept = Mutant(
    "ROPE-counter-kept",
    story="positions go on where the last call ended",
    breaks={"CALL-REPEAT-1"},
    hint="take the offset as an argument instead of counting calls",
    replace={adapter.rotary: counting},
)


def attend_evenly(q, k, v, positions, omega, causal=False):
    even = q.shape[-1] // 2
    mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None
    q, k = (rotary.rotate(x, positions, omega[:even], 2 * even) for x in (q, k))
    return attend(q, k, v, mask)[0]


odd_floored = Mutant(
    "ROPE-odd-floored",
    story="of an odd number of features the last is left over, silently",
    breaks={"ROPE-ODD-1"},
    hint="raise an error where the width is odd",
    replace={
        adapter.rotary: built(lambda config: replace(config, rotary_dim=config.rotary_dim // 2 * 2)),
        rotary.rotary_attention: attend_evenly,
    },
)

too_wide_clipped = Mutant(
    "ROPE-width-clipped",
    story="a rotary_dim larger than the head is taken for all of it, silently",
    breaks={"ROPE-WIDTH-1"},
    hint="raise an error where rotary_dim > head_dim",
    replace={adapter.rotary: built(lambda config: replace(config, rotary_dim=min(config.rotary_dim, config.head_dim)))},
)
