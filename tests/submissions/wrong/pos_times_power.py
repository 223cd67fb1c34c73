from torch import nn
import torch


class Positions(nn.Module):
    def __init__(self, hidden: int, maximum_length: int = 512, p: float = 0.0):
        super().__init__()
        position = torch.arange(maximum_length).float().unsqueeze(1)
        div_term = torch.pow(10000.0, -torch.arange(0, hidden, 2).float() / hidden)
        pe = torch.zeros(1, maximum_length, hidden)
        pe[..., 0::2] = torch.sin(position / div_term)
        pe[..., 1::2] = torch.cos(position / div_term)
        self.register_buffer("pe", pe)
        self.dropout = nn.Dropout(p)

    def forward(self, embedded):
        n = embedded.size(1)
        if n > self.pe.size(1):
            raise ValueError("too long")
        return self.dropout(embedded + self.pe[:, :n])
