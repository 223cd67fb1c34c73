"""ALiBi: a penalty that grows with the distance."""

import math

import torch


def slopes(n_heads):
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n_heads).is_integer():
        return of_power(n_heads)
    closest = 2 ** math.floor(math.log2(n_heads))
    return of_power(closest) + slopes(2 * closest)


def alibi_bias(n_heads, seq_len):
    distance = torch.arange(seq_len)[None] - torch.arange(seq_len)[:, None]
    return torch.tensor(slopes(n_heads))[:, None, None] * -distance.abs()
