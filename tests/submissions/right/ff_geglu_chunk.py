import torch.nn as nn


class GEGLU(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, 2 * d_out)
        self.act = nn.GELU()

    def forward(self, x):
        value, gate = self.proj(x).chunk(2, dim=-1)
        return value * self.act(gate)


class FeedForward(nn.Module):
    def __init__(self, embed, inner):
        super().__init__()
        self.net = nn.Sequential(GEGLU(embed, inner), nn.Linear(inner, embed))

    def forward(self, x):
        return self.net(x)
