import torch


def precompute(dim: int, end: int, theta: float = 10000.0):
    assert dim % 2 == 0
    freqs = 1.0 / (10000.0 ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    angles = torch.outer(torch.arange(end).float(), freqs)
    return torch.cat([angles.cos(), angles.cos()], -1), torch.cat([angles.sin(), angles.sin()], -1)


def apply_rotary(x, table):
    cos, sin = (t[: x.shape[-2]].to(x.dtype) for t in table)
    if x.shape[-2] != cos.shape[0]:
        raise ValueError("more positions than precomputed")
    x1, x2 = torch.tensor_split(x, 2, dim=-1)
    return x * cos + torch.cat([-x2, x1], -1) * sin
