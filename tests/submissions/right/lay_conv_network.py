import torch
from torch import nn

torch.set_printoptions(precision=3, sci_mode=False)


class ConvFeedForward(nn.Module):
    ''' "Another way of describing this is as two convolutions with kernel size 1" '''

    def __init__(self, n_units, n_inner):
        super().__init__()
        self.conv1 = nn.Conv1d(n_units, n_inner, kernel_size=1)
        self.conv2 = nn.Conv1d(n_inner, n_units, kernel_size=1)

    def forward(self, x):
        return self.conv2(self.conv1(x.transpose(1, 2)).relu()).transpose(1, 2)


class EncoderCell(nn.Module):
    def __init__(self, n_heads, n_units, n_inner, keep_prob=1.0):
        super().__init__()
        self.attend = nn.MultiheadAttention(n_units, n_heads, batch_first=False)
        self.network = ConvFeedForward(n_units, n_inner)
        self.norms = nn.ModuleDict({"attend": nn.LayerNorm(n_units), "network": nn.LayerNorm(n_units)})
        self.drop = nn.Dropout(1.0 - keep_prob)

    def forward(self, x, mask=None):
        """x: batch, time, units; mask: batch, time with 0 for padding"""
        t = x.transpose(0, 1)
        hidden = mask.logical_not() if mask is not None else None
        a = self.attend(t, t, t, key_padding_mask=hidden, need_weights=False)[0].transpose(0, 1)
        x = self.norms["attend"](x + self.drop(a))
        return self.norms["network"](x + self.drop(self.network(x)))


class EncoderRNNStyle(nn.Module):
    """Same interface as nn.GRU: returns all states and the last one."""

    def __init__(self, n_cells, n_heads, n_units, n_inner, keep_prob=1.0):
        super().__init__()
        self.cells = nn.ModuleList(EncoderCell(n_heads, n_units, n_inner, keep_prob) for _ in range(n_cells))

    def forward(self, x, mask=None):
        for cell in self.cells:
            x = cell(x, mask)
        return x, x[:, -1]
