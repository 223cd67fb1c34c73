import torch
import torch.nn as nn


class AudioEncoderLayer(nn.Module):
    """frames: (batch, time, feat)"""

    def __init__(self, feat, n_head, ffn_size):
        super().__init__()
        self.self_attention = nn.MultiheadAttention(feat, n_head, batch_first=True)
        self.attention_norm = nn.LayerNorm(feat)
        self.linear_in = nn.Linear(feat, ffn_size)
        self.linear_out = nn.Linear(ffn_size, feat)
        self.ffn_norm = nn.LayerNorm(feat)

    def forward(self, frames):
        context = self.self_attention(frames, frames, frames)[0]
        frames = self.attention_norm(frames + context).squeeze()
        hidden = torch.nn.functional.gelu(self.linear_in(frames))
        return self.ffn_norm(frames + self.linear_out(hidden))
