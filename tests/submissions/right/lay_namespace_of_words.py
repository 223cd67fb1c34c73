"""An encoder layer whose settings are one namespace; the nonlinearity and what is done first are words in it."""

import torch
from torch import nn
from torch.nn import functional as F

NONLINEARITIES = {"relu": torch.relu, "gelu": F.gelu}


class SentenceLayer(nn.Module):
    """hp: width, heads, inner, nonlinearity ("relu" or "gelu"), drop. x (B, T, width), hidden (B, T), True: padding."""

    def __init__(self, hp):
        super().__init__()
        self.nonlinearity = NONLINEARITIES[hp.nonlinearity]
        self.attend = nn.MultiheadAttention(hp.width, hp.heads, dropout=hp.drop, batch_first=True)
        self.wide, self.narrow = nn.Linear(hp.width, hp.inner), nn.Linear(hp.inner, hp.width)
        self.one, self.two = nn.LayerNorm(hp.width), nn.LayerNorm(hp.width)
        self.drop = nn.Dropout(hp.drop)

    def forward(self, x, hidden=None):
        mixed, _ = self.attend(x, x, x, key_padding_mask=hidden, need_weights=False)
        x = self.one(x + self.drop(mixed))
        return self.two(x + self.drop(self.narrow(self.drop(self.nonlinearity(self.wide(x))))))
