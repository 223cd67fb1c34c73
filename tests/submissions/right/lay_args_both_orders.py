"""Encoder layer in the manner of a translation toolkit: everything is read off args, some with a default."""
import torch
from torch import nn
from torch.nn import functional as F


class TransformerEncoderLayer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embed_dim = args.encoder_embed_dim
        self.self_attn = nn.MultiheadAttention(self.embed_dim, args.encoder_attention_heads, batch_first=True)
        self.self_attn_layer_norm = nn.LayerNorm(self.embed_dim)
        self.dropout = args.dropout
        self.normalize_before = getattr(args, "encoder_normalize_before", False)
        self.fc1 = nn.Linear(self.embed_dim, args.encoder_ffn_embed_dim)
        self.fc2 = nn.Linear(args.encoder_ffn_embed_dim, self.embed_dim)
        self.final_layer_norm = nn.LayerNorm(self.embed_dim)

    def maybe_layer_norm(self, norm, x, before=False, after=False):
        assert before ^ after
        return norm(x) if after ^ self.normalize_before else x

    def forward(self, x, encoder_padding_mask=None):
        residual = x
        x = self.maybe_layer_norm(self.self_attn_layer_norm, x, before=True)
        x, _ = self.self_attn(x, x, x, key_padding_mask=encoder_padding_mask)
        x = residual + F.dropout(x, self.dropout, self.training)
        x = self.maybe_layer_norm(self.self_attn_layer_norm, x, after=True)
        residual = x
        x = self.maybe_layer_norm(self.final_layer_norm, x, before=True)
        x = self.fc2(torch.relu(self.fc1(x)))
        x = residual + F.dropout(x, self.dropout, self.training)
        return self.maybe_layer_norm(self.final_layer_norm, x, after=True)
