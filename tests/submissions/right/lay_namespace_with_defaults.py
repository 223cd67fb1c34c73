from types import SimpleNamespace

import torch.nn.functional as F
from torch import nn


def with_defaults(args):
    args.encoder_embed_dim = getattr(args, "encoder_embed_dim", 48)
    args.encoder_ffn_embed_dim = getattr(args, "encoder_ffn_embed_dim", 96)
    args.encoder_attention_heads = getattr(args, "encoder_attention_heads", 4)
    args.encoder_normalize_before = getattr(args, "encoder_normalize_before", False)
    args.activation_fn = getattr(args, "activation_fn", "relu")
    return args


class EncoderLayer(nn.Module):
    """Time first: x (T, B, C); padding_mask (B, T), True where there is nothing."""

    def __init__(self, args=None):
        super().__init__()
        args = with_defaults(args or SimpleNamespace())
        width = args.encoder_embed_dim
        self.before = args.encoder_normalize_before
        self.act = getattr(F, args.activation_fn)
        self.self_attn = nn.MultiheadAttention(width, args.encoder_attention_heads)
        self.attn_norm, self.final_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, args.encoder_ffn_embed_dim)
        self.fc2 = nn.Linear(args.encoder_ffn_embed_dim, width)

    def around(self, x, norm, part):
        return x + part(norm(x)) if self.before else norm(x + part(x))

    def forward(self, x, padding_mask=None):
        def attend(h):
            return self.self_attn(h, h, h, key_padding_mask=padding_mask, need_weights=False)[0]

        x = self.around(x, self.attn_norm, attend)
        return self.around(x, self.final_norm, lambda h: self.fc2(self.act(self.fc1(h))))
