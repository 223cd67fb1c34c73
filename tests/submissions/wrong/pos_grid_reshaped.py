import torch


def sincos_1d(d, p):
    w = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = p[:, None].double() * w[None]
    return torch.cat([a.sin(), a.cos()], dim=1)


def sincos_2d(d, h, w):
    """(h, w, d)"""
    if d % 4:
        raise ValueError("d % 4")
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="xy")
    ex = sincos_1d(d // 2, xs.flatten())
    ey = sincos_1d(d // 2, ys.flatten())
    return torch.cat([ex, ey], dim=1).view(h, w, d)
