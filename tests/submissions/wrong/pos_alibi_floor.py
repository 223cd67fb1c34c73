import torch


def slopes(H):
    assert H & (H - 1) == 0, "number of heads: 1, 2, 4, 8, 16, ..."
    step = 8 // H
    return [2.0 ** (-step * (h + 1)) for h in range(H)]


def linear_biases(n_heads, T):
    m = torch.tensor(slopes(n_heads))
    offsets = torch.arange(T)[None, :] - torch.arange(T)[:, None]
    return m[:, None, None] * -offsets.abs()[None]
