"""Channel mixing as in our folding model: gate and value in one matrix, four times as wide."""

from torch import nn
from torch.nn import functional as F


class ChannelMix(nn.Module):
    KINDS = {"swiglu": F.silu, "reglu": F.relu}

    def __init__(self, c, factor=4, kind="swiglu"):
        super().__init__()
        self.act = self.KINDS[kind]
        self.wide = nn.Linear(c, 2 * factor * c, bias=False)
        self.narrow = nn.Linear(factor * c, c, bias=False)

    def forward(self, pairs):
        gate, value = self.wide(pairs).chunk(2, dim=-1)
        return self.narrow(self.act(gate) * value)
