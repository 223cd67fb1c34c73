import torch
import torch.nn as nn


class MyEncoderLayer(nn.TransformerEncoderLayer):
    """nn.TransformerEncoderLayer with the defaults I always want."""

    def __init__(self, hidden_size: int, n_heads: int, intermediate_size: int, p: float = 0.1):
        super().__init__(
            d_model=hidden_size,
            nhead=n_heads,
            dim_feedforward=intermediate_size,
            dropout=p,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )

    def forward(self, hidden_states, attention_mask=None):
        # attention_mask like the huggingface ones: 1 for tokens, 0 for padding
        pad = None if attention_mask is None else attention_mask == 0
        return super().forward(hidden_states, src_key_padding_mask=pad)
