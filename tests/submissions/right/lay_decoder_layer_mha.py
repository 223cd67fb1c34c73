import torch
import torch.nn as nn


class TransformerDecoderLayer(nn.Module):
    """
    Masked self-attention, cross-attention, FFN; Add & Norm after each.

    tgt:        (N, T, E)
    memory:     (N, S, E)
    tgt_mask:   (T, T) bool, True = may NOT be looked at
    memory_key_padding_mask: (N, S) bool, True = padding
    """

    def __init__(self, input_dim, num_heads, dim_feedforward=2048, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(input_dim, num_heads, dropout, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(input_dim, num_heads, dropout, batch_first=True)
        self.feedforward = nn.Sequential(
            nn.Linear(input_dim, dim_feedforward), nn.ReLU(), nn.Dropout(dropout), nn.Linear(dim_feedforward, input_dim)
        )
        self.norm_self = nn.LayerNorm(input_dim)
        self.norm_attn = nn.LayerNorm(input_dim)
        self.norm_ff = nn.LayerNorm(input_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tgt, memory, tgt_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None):
        shortcut = tgt
        tgt, _ = self.self_attn(query=tgt, key=tgt, value=tgt, attn_mask=tgt_mask,
                                key_padding_mask=tgt_key_padding_mask)
        tgt = self.norm_self(self.dropout(tgt) + shortcut)

        shortcut = tgt
        tgt, _ = self.multihead_attn(query=tgt, key=memory, value=memory,
                                     key_padding_mask=memory_key_padding_mask)
        tgt = self.norm_attn(self.dropout(tgt) + shortcut)

        shortcut = tgt
        tgt = self.feedforward(tgt)
        tgt = self.norm_ff(self.dropout(tgt) + shortcut)
        return tgt
