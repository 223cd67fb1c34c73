import torch


class Turn:
    """x (batch, tokens, heads, width); positions (batch, tokens), else 0, 1, 2, …"""

    def __init__(self, width, longest, base=10000.0):
        angles = torch.arange(longest)[:, None] * base ** (-torch.arange(0, width, 2) / width)
        self.cos, self.sin = angles.cos(), angles.sin()

    def apply(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.shape[1]).expand(len(x), -1)
        cos, sin = (table[positions].unsqueeze(2).to(x) for table in (self.cos, self.sin))
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
