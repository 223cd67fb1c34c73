"""Exercise 9, part 3: self-attention of many heads, all weights in one dictionary."""

import torch


def my_softmax(z):
    e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def self_attention(X, params, num_heads, mask=None):
    """
    X       (m, T, n)
    params  Wq, Wk, Wv, Wo, each (n, n), and bq, bk, bv, bo, each (n,), where there are biases
    mask    (m, 1, T, T), added to the scores: 0 or -inf
    returns the output and the weights
    """
    m, T, n = X.shape
    none = X.new_zeros(n)
    Q = X @ params["Wq"] + params.get("bq", none)
    K = X @ params["Wk"] + params.get("bk", none)
    V = X @ params["Wv"] + params.get("bv", none)
    Q, K, V = (M.reshape(m, T, num_heads, n // num_heads).transpose(1, 2) for M in (Q, K, V))
    Z = Q @ K.mT / (n // num_heads) ** 0.5
    A = my_softmax(Z if mask is None else Z + mask)
    Y = (A @ V).reshape(m, T, n)
    return Y @ params["Wo"] + params.get("bo", none), A
