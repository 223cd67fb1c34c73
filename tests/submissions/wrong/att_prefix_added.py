"""Attention as a function of a flat dict: the prefix of its weights is told, and what is behind it added."""

import torch
from torch.nn.functional import dropout, linear


def project(held, name, x):
    return linear(x, held[name + ".weight"], held.get(name + ".bias"))


def attention(held, start, x, heads, memory=None, lengths=None, drop=0.1, train=False):
    """x: (batch, length, width); memory: another sequence to read; lengths: of that, how many tokens there are."""
    memory = x if memory is None else memory
    q = project(held, start + ".q", x).unflatten(-1, (heads, -1))
    k, v = (project(held, start + part, memory).unflatten(-1, (heads, -1)) for part in (".k", ".v"))
    scores = torch.einsum("blhd,bshd->bhls", q, k) / q.shape[-1] ** 0.5
    if lengths is not None:
        places = torch.arange(memory.shape[1], device=x.device)
        scores = scores.masked_fill((places >= lengths[:, None])[:, None, None], float("-inf"))
    weights = dropout(scores.softmax(-1), drop)
    return project(held, start + ".o", torch.einsum("bhls,bshd->blhd", weights, v).flatten(2))
