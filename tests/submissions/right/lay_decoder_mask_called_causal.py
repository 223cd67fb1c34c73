import torch.nn as nn


class DecoderBlock(nn.Module):
    """causal: bool (T, T), True = not to be seen; source_padding: bool (B, S), True = padding"""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.cross_attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model), nn.Dropout(dropout))
        self.ln1, self.ln2, self.ln3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, target, memory, causal=None, source_padding=None):
        found, _ = self.self_attn(target, target, target, attn_mask=causal)
        one = self.ln1(target + found)
        found, _ = self.cross_attn(one, memory, memory, key_padding_mask=source_padding)
        two = self.ln2(one + found)
        return self.ln3(two + self.mlp(two))
