"""Ways to get decoder layers, and stacks of them, wrong: the targets."""

import math
from collections.abc import Callable
from typing import Any

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.decoder.mutants.shared import attend
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder, encoder, masks


def with_mask(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``mask_of_targets`` with ``make(L)`` in place of the causal mask."""

    def mask_of_targets(x, key_mask):
        mask = make(x.shape[1]).to(x.device)
        return mask if key_mask is None else masks.intersect(mask, masks.key_padding(key_mask))

    return mask_of_targets


def ones(length):
    return torch.ones(length, length, dtype=torch.bool)


not_causal = Mutant(
    "DEC-not-causal",
    story="targets see the targets after them",
    breaks={"DEC-CAUSAL-1"},
    hint="give the decoder's self-attention a causal mask, whatever else it gets",
    replace={adapter.mask_of_targets: with_mask(ones)},
    source="alex-matton/causal-transformer-decoder#1",
)

one_ahead = Mutant(
    "DEC-one-ahead",
    story="every target sees the one after it",
    breaks={"DEC-CAUSAL-1"},
    hint="tril(diagonal=0)",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril(1))},
)

only_later = Mutant(
    "DEC-only-later",
    story="targets see themselves and the targets after them",
    breaks={"DEC-CAUSAL-1"},
    hint="tril, not triu",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).triu())},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

not_itself = Mutant(
    "DEC-not-itself",
    story="a target sees the targets before it, but not itself",
    breaks={"DEC-CAUSAL-2"},
    hint="tril(diagonal=0): the first target must see something",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril(-1))},
)


def first_sees_all(length):
    mask = ones(length).tril(-1)
    mask[0] = True
    return mask


not_itself_by_filling = Mutant(
    "DEC-not-itself-filled",
    story="a target does not see itself, and the first one, whose scores are all filled with one number, sees all",
    breaks={"DEC-CAUSAL-1"},
    hint="triu(diagonal=1) is what is hidden: the diagonal is seen",
    replace={adapter.mask_of_targets: with_mask(first_sees_all)},
)

window = Mutant(
    "DEC-window",
    story="a target sees no further back than the target before it",
    breaks={"DEC-CAUSAL-2"},
    hint="all targets before it",
    replace={adapter.mask_of_targets: with_mask(lambda length: ones(length).tril().triu(-1))},
)


def causal_in_first(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        seen = mask if i == 0 else torch.ones_like(mask)
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, seen, memory_mask)
    return decoder.last_norm(x, weights, style)


causal_once = Mutant(
    "DEC-causal-in-first-layer",
    story="only the first layer gets the causal mask",
    breaks={"DEC-CAUSAL-1", "DEC-PAD-1", "DEC-STACK-1"},
    hint="every layer gets the same masks",
    replace={decoder.decoder: causal_in_first},
)


def attend_scaled_by_length(x, weights, style, mask):
    longer = math.log(1 + x.shape[1])
    part = {n: w * longer if n.startswith("self.q.") else w for n, w in weights.items()}
    return attend(x, part, style, mask)


scaled_by_length = Mutant(
    "DEC-scaled-by-length",
    story="scores are multiplied by the logarithm of the number of targets",
    breaks={"DEC-PREFIX-1"},
    hint="a target must not know how many come after it",
    replace={attend: attend_scaled_by_length},
)

padding_ignored = Mutant(
    "DEC-padding-ignored",
    story="key_mask is not used",
    breaks={"DEC-PAD-1"},
    hint="causality hides padding at the end only",
    replace={adapter.mask_of_targets: lambda x, key_mask: masks.causal(x.shape[1], x.shape[1]).to(x.device)},
)

padding_inverted = Mutant(
    "DEC-padding-inverted",
    story="key_mask is taken to be True where a target is padding",
    breaks={"DEC-PAD-1"},
    hint="True = a target",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: adapter.mask_of_targets(x, None if key_mask is None else ~key_mask)
    },
)

padding_of_first = Mutant(
    "DEC-padding-of-first",
    story="the padding of the first sample is used for all",
    breaks={"DEC-PAD-1"},
    hint="key_mask[:, None, None, :] keeps the batch axis",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: adapter.mask_of_targets(
            x, None if key_mask is None else key_mask[:1].expand_as(key_mask)
        )
    },
)

either_mask = Mutant(
    "DEC-either-mask",
    story="a target is seen if causality or padding allows it",
    breaks={"DEC-PAD-1"},
    hint="both must allow it: causal & padding",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: (
            masks.causal(x.shape[1], x.shape[1]).to(x.device)
            if key_mask is None
            else masks.causal(x.shape[1], x.shape[1]).to(x.device) | masks.key_padding(key_mask)
        )
    },
)

padding_replaces = Mutant(
    "DEC-padding-replaces-causality",
    story="where there is a key_mask, there is no causal mask",
    breaks={"DEC-PAD-2"},
    hint="combine both masks",
    replace={
        adapter.mask_of_targets: lambda x, key_mask: (
            masks.causal(x.shape[1], x.shape[1]).to(x.device) if key_mask is None else masks.key_padding(key_mask)
        )
    },
    source="GLM-4-Voice#182",
)
