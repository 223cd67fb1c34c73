"""Ways to get masks wrong: what the mutants of several sections use."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.reference import attention, masks

INF = float("inf")


def with_attn_mask(change):
    """Return gather_masks with the explicit mask changed on its way in."""

    def gather_masks(config, query, key, key_mask, attn_mask):
        changed = None if attn_mask is None else change(attn_mask)
        return adapter.gather_masks(config, query, key, key_mask, changed)

    return gather_masks


def with_key_mask(change):
    """Return gather_masks with the key mask, once (B, 1, 1, S), changed on its way in."""

    def key_padding(key_mask):
        return change(masks.key_padding(key_mask))

    return key_padding


def filled_with_lowest(scores, mask):
    return scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def emptied(replacements):
    """Return variants of what empties rows: these have the mean of the values, or NaN, instead of zeros."""
    hidden = [{masks.hide: filled_with_lowest}, {attention.weigh: lambda scores: torch.softmax(scores, dim=-1)}]
    return [{**replacements, **other} for other in hidden]


def first_of(axis):
    """Return the mask with what its first slice along an axis (from the right) says for all of them."""
    return lambda mask: mask.narrow(axis, 0, 1).expand_as(mask) if mask.ndim >= -axis else mask
