"""Ways to get scaled dot-product attention wrong: errors and edges."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention


def attend_on_common_keys(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    n = min(k.shape[-2], v.shape[-2])
    return attention.attend(q, k[..., :n, :], v[..., :n, :], mask, bias, scale, dropout)


lengths_cut = Mutant(
    "ATT-lengths-cut",
    story="surplus keys without values are dropped silently",
    breaks={"ATT-ERROR-1"},
    hint="raise an error where keys and values differ in number",
    replace={attention.attend: attend_on_common_keys},
)

sizes_stretched = Mutant(
    "ATT-sizes-stretched",
    story="an axis of size 1 is stretched to fit: one value serves all keys",
    breaks={"ATT-ERROR-2"},
    hint="compare the sizes before an einsum or a product that broadcasts",
    replace={attention.refuse_misfits: lambda q, k, v: None},
)

nan_replaced = Mutant(
    "ATT-nan-to-num",
    story="NaN among the weights becomes 0: what is spoilt looks like a number",
    breaks={"ATT-NAN-1"},
    hint="give rows without keys zeros by their mask; nan_to_num takes every other NaN, too",
    replace={attention.weigh: lambda scores: torch.nan_to_num(attention.weigh(scores))},
    source="pytorch#141128",
)
