"""Self-attention for a batch of padded recordings."""

import torch
from torch import nn


class RecordingAttention(nn.Module):
    """Every frame looks at every frame that was recorded."""

    def __init__(self, width, heads, bias=True):
        super().__init__()
        assert width % heads == 0
        self.heads = heads
        self.into = nn.Linear(width, 3 * width, bias=bias)
        self.back = nn.Linear(width, width, bias=bias)

    def forward(self, frames, frame_mask=None, attn_bias=None):
        """
        frames: batch x time x width
        frame_mask: byte tensor batch x time, non-zero where a frame is blank.
        attn_bias: float tensor time x time, added to the scores.
        """
        batch, time, width = frames.shape
        parts = self.into(frames).reshape(batch, time, 3, self.heads, width // self.heads)
        q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
        scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5
        if attn_bias is not None:
            scores = scores + attn_bias
        if frame_mask is not None:
            scores = scores.masked_fill(~frame_mask.bool()[:, None, None, :], -torch.inf)
        mixed = scores.softmax(dim=3) @ v
        return self.back(mixed.transpose(1, 2).reshape(batch, time, width))
