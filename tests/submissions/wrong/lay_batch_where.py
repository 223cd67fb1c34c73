import torch
import torch.nn as nn


class TransformerClassifierBody(nn.Module):
    """(batch, steps, features) -> (batch, steps, features); pooling happens outside."""

    def __init__(self, input_dim, num_heads, ff_dim, num_layers, dropout=0.1):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            d_model=input_dim, nhead=num_heads, dim_feedforward=ff_dim, dropout=dropout
        )
        self.encoder = nn.TransformerEncoder(self.layer, num_layers=num_layers)

    def forward(self, x):
        batch, steps, features = x.shape
        out = self.encoder(x)
        assert out.shape == (batch, steps, features)
        return out
