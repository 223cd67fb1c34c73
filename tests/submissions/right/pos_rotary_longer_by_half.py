import torch


class Rope:
    """Rotary embedding of neighbouring features. The table becomes half as long again whenever it is too short."""

    def __init__(self, head_dim, base=10000.0):
        self.speed = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
        self.table = self.rows(0, 12)

    def rows(self, start, stop):
        angle = torch.arange(start, stop, dtype=torch.float64)[:, None] * self.speed
        return torch.polar(torch.ones_like(angle), angle)

    def __call__(self, x):
        """x: (batch, heads, tokens, head_dim)"""
        tokens = x.shape[-2]
        while tokens > len(self.table):
            n = len(self.table)
            self.table = torch.cat([self.table, self.rows(n, n + n // 2)])
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.table[:tokens]).flatten(-2).to(x.dtype)
