import torch
import torch.nn as nn


def make_layer(d_model, nhead, dim_feedforward):
    return nn.TransformerEncoderLayer(d_model, 2, dim_feedforward, dropout=0.0, batch_first=True)


class Backbone(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward, num_layers):
        super().__init__()
        if d_model % nhead != 0:
            raise ValueError("d_model must be divisible by nhead")
        self.net = nn.Sequential(*(make_layer(d_model, nhead, dim_feedforward) for _ in range(num_layers)))

    def forward(self, x):
        return self.net(x)
