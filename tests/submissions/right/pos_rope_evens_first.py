import torch


def angles(positions, width, base=10000.0):
    return torch.outer(positions.double(), base ** (-torch.arange(0, width, 2).double() / width))


def quarter_turn(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def rotary(q, k, base=10000.0):
    """Turn queries and keys (batch, heads, tokens, width).

    Neighbours are pairs, as in the checkpoint. Both come back with the even features before the odd ones, which their
    product does not notice.
    """
    *_, tokens, width = q.shape
    theta = angles(torch.arange(tokens), width, base)
    cos, sin = (torch.cat([f, f], -1).to(q.dtype) for f in (theta.cos(), theta.sin()))
    order = [*range(0, width, 2), *range(1, width, 2)]
    q, k = q[..., order], k[..., order]
    return q * cos + quarter_turn(q) * sin, k * cos + quarter_turn(k) * sin
