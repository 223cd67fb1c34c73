from torch import nn
from torch.nn import functional as F


class EncoderLayer(nn.Module):
    def __init__(self, embed_dim, ffn_dim, num_heads, dropout=0.1, normalize_before=False):
        super().__init__()
        self.normalize_before = normalize_before
        self.dropout = dropout
        self.self_attn = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.attn_norm = nn.LayerNorm(embed_dim)
        self.fc1, self.fc2 = nn.Linear(embed_dim, ffn_dim), nn.Linear(ffn_dim, embed_dim)
        self.ffn_norm = nn.LayerNorm(embed_dim)

    def forward(self, x, padding_mask=None):
        residual = x
        if self.normalize_before:
            x = self.attn_norm(x)
        x = self.self_attn(x, x, x, key_padding_mask=padding_mask, need_weights=False)[0]
        x = residual + F.dropout(x, self.dropout, self.training)
        if not self.normalize_before:
            x = self.attn_norm(x)
        residual = x
        if self.normalize_before:
            x = self.ffn_norm(x)
        x = self.fc2(F.relu(self.fc1(x)))
        if not self.normalize_before:
            x = residual + F.dropout(x, self.dropout, self.training)
            x = self.ffn_norm(x)
        return x


class Encoder(nn.Module):
    def __init__(self, embed_dim=512, ffn_dim=2048, num_heads=8, num_layers=6, dropout=0.1, normalize_before=False):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(embed_dim, ffn_dim, num_heads, dropout, normalize_before) for _ in range(num_layers))
        self.norm = nn.LayerNorm(embed_dim) if normalize_before else None

    def forward(self, x, padding_mask=None):
        for layer in self.layers:
            x = layer(x, padding_mask)
        return x if self.norm is None else self.norm(x)
