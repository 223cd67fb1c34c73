"""Attention for all heads at once, on queries, keys and values that were projected before."""


def attention_of_heads(q, k, v, num_heads, mask=None):
    """q (B, L, E), k and v (B, S, E), heads side by side in E; mask: True may be attended to."""
    batch, length, width = q.shape
    q, k, v = (t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in (q, k, v))
    scores = q @ k.mT / (width // num_heads) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
