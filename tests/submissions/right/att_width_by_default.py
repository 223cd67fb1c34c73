"""Attention of a tutorial whose model is 512 wide: the width of a head has a default, that callers overrule."""

from math import sqrt

import torch


def attend(query, key, value, d_k=64, mask=None, drop=None):
    energy = query @ key.transpose(-2, -1) / sqrt(d_k)
    if mask is not None:
        energy = energy.masked_fill(mask.unsqueeze(1) == 0, -1e9)
    energy = torch.softmax(energy, dim=-1)
    if drop is not None:
        energy = drop(energy)
    return energy @ value
