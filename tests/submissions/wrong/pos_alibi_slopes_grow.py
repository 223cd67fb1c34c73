import torch


def alibi_slopes(n_heads):
    i = torch.arange(1, n_heads + 1, dtype=torch.float64)
    return torch.pow(2.0, 8.0 * i / n_heads)


def alibi_bias(n_heads, q_len, k_len):
    """(n_heads, q_len, k_len), added to the scores; the last query is the last key"""
    there = torch.arange(k_len)
    here = torch.arange(k_len - q_len, k_len)
    gap = (here[:, None] - there[None, :]).abs()
    return -alibi_slopes(n_heads)[:, None, None] * gap
