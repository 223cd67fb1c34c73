import torch


class Rope:
    def __init__(self, dim, base=10000.0):
        if dim % 2 != 0:
            raise ValueError("dim % 2")
        self.freqs = base ** (-torch.arange(0, dim, 2).double() / dim)
        self.cache = {}

    def angles(self, positions):
        # the same for all layers, so keep them
        key = tuple(positions.shape)
        if key not in self.cache:
            self.cache[key] = positions.double()[..., None] * self.freqs
        return self.cache[key]

    def __call__(self, x, positions=None):
        """x (B, H, T, dim), positions (T,)"""
        if positions is None:
            positions = torch.arange(x.shape[2])
        if tuple(positions.shape) != (x.shape[2],):
            raise ValueError("one position for each token")
        a = self.angles(positions)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        out = torch.stack([x[..., ::2] * c - x[..., 1::2] * s, x[..., ::2] * s + x[..., 1::2] * c], dim=-1)
        return out.reshape(x.shape)
