"""Ways to get masks wrong: which way round."""

from functools import partial

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.masks.mutants.shared import with_attn_mask
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks

mask_inverted = Mutant(
    "MASK-inverted",
    story="the explicit mask is taken as True = ignore",
    breaks={"MASK-BOOL-1"},
    hint="here True means that the query may attend: fill where the mask is False (masked_fill(~mask, …))",
    replace={adapter.gather_masks: with_attn_mask(torch.logical_not)},
    source="pytorch#33763; TransformerTranslation#6; torchTextClassifiers#92",
)

all_inverted = Mutant(
    "MASK-all-inverted",
    story="scores are hidden where they are allowed, and allowed where they are to be hidden",
    breaks={"MASK-BOOL-1"},
    hint="fill where the mask is False",
    replace={masks.hide: lambda scores, mask: scores if mask is None else masks.hide(scores, ~mask)},
    source="detr#96",
)


def gather_in_training_only(config, query, key, key_mask, attn_mask):
    if not config.training:
        key_mask, attn_mask = None, None
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


mask_in_training_only = Mutant(
    "MASK-in-training-only",
    story="in evaluation the masks that are given are dropped",
    breaks={"MASK-BOOL-1", "MHA-MODE-1"},
    hint="pass the mask on in every branch of forward",
    replace={adapter.gather_masks: gather_in_training_only},
    source="pytorch#86120",
)


def gather_for_several(axis, config, query, key, key_mask, attn_mask):
    if query.shape[axis] == 1:
        key_mask, attn_mask = None, None
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


mask_for_several = Mutant(
    "MASK-for-several-only",
    story="the masks of one sample alone are dropped",
    breaks={"MASK-DELETE-1"},
    hint="make no exception for a batch of one, whose mask may hide as well",
    replace={adapter.gather_masks: partial(gather_for_several, 0)},
    variants=[{adapter.gather_masks: partial(gather_for_several, 1)}],
)

mask_ignored = Mutant(
    "MASK-ignored",
    story="the explicit mask is ignored",
    breaks={"MASK-BOOL-1"},
    hint="apply the mask to the scores before the softmax",
    replace={adapter.gather_masks: with_attn_mask(lambda mask: None)},
)

multiplied_before = Mutant(
    "MASK-scores-multiplied",
    story="the scores are multiplied by the mask: a hidden key keeps the score 0, and e^0 is 1",
    breaks={"MASK-BOOL-1"},
    hint="set hidden scores to -inf instead of 0",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores * mask},
    source="slippi-ai#24",
)

ones_added = Mutant(
    "MASK-ones-added",
    story="the mask is added to the scores as zeros and ones",
    breaks={"MASK-DELETE-1"},
    hint="turn False into -inf and True into 0 before adding",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores + mask.to(scores)},
    source="tinygrad#2425; mlverse/torch#1205",
)
