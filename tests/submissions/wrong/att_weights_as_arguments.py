import math
import torch


def multihead_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """x: (batch, seq, d_model), W_*: (d_model, d_model)"""
    b, s, d = x.shape
    assert d % n_heads == 0
    dk = d // n_heads
    Q = (x @ W_q).view(b, s, n_heads, dk).transpose(1, 2)
    K = (x @ W_k).view(b, s, n_heads, dk).transpose(1, 2)
    V = (x @ W_v).view(b, s, n_heads, dk).transpose(1, 2)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(d)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    A = torch.softmax(scores, dim=-1)
    out = (A @ V).transpose(1, 2).contiguous().view(b, s, d)
    return out @ W_o
