import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    """The input width is found out at the first call, so only the widths behind it are given."""

    def __init__(self, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.LazyLinear(ffn_num_hiddens)
        self.dense2 = nn.LazyLinear(ffn_num_outputs)

    def forward(self, X):
        return self.dense2(torch.relu(self.dense1(X)))
