import torch
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.decoder_embed_dim
        self.pre = getattr(cfg, "decoder_normalize_before", False)
        self.self_attn = nn.MultiheadAttention(d, cfg.decoder_attention_heads, batch_first=True)
        self.encoder_attn = nn.MultiheadAttention(d, cfg.decoder_attention_heads, batch_first=True)
        self.fc1, self.fc2 = nn.Linear(d, cfg.decoder_ffn_embed_dim), nn.Linear(cfg.decoder_ffn_embed_dim, d)
        self.self_attn_layer_norm, self.encoder_attn_layer_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.final_layer_norm = nn.LayerNorm(d)

    def forward(self, x, encoder_out, encoder_padding_mask=None):
        L = x.shape[1]
        future = torch.ones(L, L, dtype=torch.bool, device=x.device).triu(1)
        residual = x
        if self.pre:
            x = self.self_attn_layer_norm(x)
        x = residual + self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]
        if not self.pre:
            x = self.self_attn_layer_norm(x)
        if self.pre:
            x = self.encoder_attn_layer_norm(x)
        residual = x
        x = residual + self.encoder_attn(x, encoder_out, encoder_out, key_padding_mask=encoder_padding_mask)[0]
        if not self.pre:
            x = self.encoder_attn_layer_norm(x)
        residual = x
        if self.pre:
            x = self.final_layer_norm(x)
        x = residual + self.fc2(torch.relu(self.fc1(x)))
        return x if self.pre else self.final_layer_norm(x)
