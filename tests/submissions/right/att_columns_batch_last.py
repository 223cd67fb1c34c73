import torch


def attention(q, k, v):
    """q: (d, L, B), k: (d, S, B), v: (p, S, B); the weights are (S, L, B), each column sums to one."""
    d = q.shape[0]
    scores = torch.einsum("dlb,dsb->slb", q, k) / d**0.5
    weights = torch.softmax(scores, dim=0)
    return torch.einsum("psb,slb->plb", v, weights)
