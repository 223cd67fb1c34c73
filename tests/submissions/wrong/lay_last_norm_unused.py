"""Pre-LN encoder, written from the figure on the right of the paper on warm-up."""
import torch
import torch.nn as nn


class PreLNLayer(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, mlp_dim: int, dropout_rate: float):
        super().__init__()
        self.layer_norm_attention = nn.LayerNorm(embed_dim)
        self.layer_norm_mlp = nn.LayerNorm(embed_dim)
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, dropout_rate, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(embed_dim, mlp_dim),
            nn.GELU(),
            nn.Dropout(dropout_rate),
            nn.Linear(mlp_dim, embed_dim),
            nn.Dropout(dropout_rate),
        )

    def forward(self, inputs, padding=None):
        normalized = self.layer_norm_attention(inputs)
        attended, _ = self.attention(normalized, normalized, normalized, key_padding_mask=padding, need_weights=False)
        hidden = inputs + attended
        return hidden + self.mlp(self.layer_norm_mlp(hidden))


class PreLNEncoder(nn.Module):
    def __init__(self, num_layers: int, embed_dim: int, num_heads: int, mlp_dim: int, dropout_rate: float = 0.1):
        super().__init__()
        self.encoder_layers = nn.ModuleList(
            [PreLNLayer(embed_dim, num_heads, mlp_dim, dropout_rate) for _ in range(num_layers)]
        )
        self.final_layer_norm = nn.LayerNorm(embed_dim)

    def forward(self, inputs, padding=None):
        outputs = inputs
        for encoder_layer in self.encoder_layers:
            outputs = encoder_layer(outputs, padding)
        return outputs
