"""Attention for all heads at once, on queries, keys and values that were projected before."""


def attention_of_heads(q, k, v, num_heads):
    """q (B, L, E), k and v (B, S, E), heads side by side in E."""
    batch, length, width = q.shape
    q, k, v = (t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in (q, k, v))
    scores = q @ k.mT / width**0.5
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
