"""One dict of tensors for a whole model: what belongs to a block lies below the block's name.

    enc.3.query (width, width), enc.3.query.bias (width,), … and the same for key, value and result
"""

import torch

PARTS = ("query", "key", "value", "result")


def add_block(tensors, block, width, seed):
    source = torch.Generator().manual_seed(seed)
    for part in PARTS:
        tensors[f"{block}.{part}"] = torch.randn(width, width, generator=source) / width**0.5
        tensors[f"{block}.{part}.bias"] = torch.zeros(width)
    return tensors


def start(block, width, seed=0):
    return add_block({}, block, width, seed)


def project(tensors, key, x):
    return x @ tensors[key] + tensors[key + ".bias"]


def attention(tensors, block, x, heads, memory=None, keep=None):
    """x (batch, time, width); memory (batch, other, width), or x itself; keep (batch, other): True for tokens."""
    memory = x if memory is None else memory

    def apart(part, inputs):
        return project(tensors, f"{block}.{part}", inputs).unflatten(-1, (heads, -1)).transpose(1, 2)

    q, k, v = apart("query", x), apart("key", memory), apart("value", memory)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if keep is not None:
        scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
    return project(tensors, f"{block}.result", mixed)
