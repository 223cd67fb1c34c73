import torch as th


def attend(keys, values, queries, allowed=None):
    # memory first, then who is asking. All [batch, time, channels]
    B, M, C = keys.shape
    assert values.shape[:2] == (B, M)
    N = queries.shape[1]
    energy = th.baddbmm(th.zeros(B, N, M, dtype=queries.dtype, device=queries.device), queries, keys.permute(0, 2, 1), beta=0, alpha=C ** -0.5)
    if allowed is not None:
        if allowed.dim() == 2:
            allowed = allowed[None]
        energy.masked_fill_(~allowed.bool(), -1e30)
    return th.bmm(th.softmax(energy, 2), values)
