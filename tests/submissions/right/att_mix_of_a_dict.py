"""Whoever calls it brings the weights: theta = {"query", "key", "value": (d, heads, e), "out": (heads, e, d)}."""

import torch


def mix(theta, asking, answering, blocked=None):
    """asking (b, n, d), answering (b, m, d), blocked (b, m) bool or None, True: nobody looks there."""
    q = torch.einsum("bnd,dhe->bhne", asking, theta["query"])
    k = torch.einsum("bmd,dhe->bhme", answering, theta["key"])
    v = torch.einsum("bmd,dhe->bhme", answering, theta["value"])
    s = torch.einsum("bhne,bhme->bhnm", q, k) / q.shape[-1] ** 0.5
    if blocked is not None:
        s = s.masked_fill(blocked[:, None, None, :], float("-inf"))
    return torch.einsum("bhnm,bhme,hed->bnd", s.softmax(dim=-1), v, theta["out"])
