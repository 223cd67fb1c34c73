import torch


def rotary(x, theta: float = 10000.0):
    '''x is [..., positions, features]; we work on a copy'''
    n, d = x.shape[-2], x.shape[-1]
    assert d % 2 == 0
    y = x.clone()
    half = d // 2
    ang = torch.arange(n).double().unsqueeze(-1) / theta ** (torch.arange(half).double() / half)
    cos, sin = torch.cos(ang).to(x), torch.sin(ang).to(x)
    left, right = y[..., :half], y[..., half:]
    y[..., :half] = left * cos - right * sin
    y[..., half:] = right * cos + left * sin
    return y
