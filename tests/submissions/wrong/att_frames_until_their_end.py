"""Self-attention over frames (batch, frames, channels); an utterance ends after n_frames of them."""
import torch
import torch.nn as nn


class FrameSelfAttention(nn.Module):
    """What comes back behind the end of an utterance is zero, so that a convolution may follow."""

    def __init__(self, channels, heads):
        super().__init__()
        if channels % heads:
            raise ValueError(f"{heads} heads do not divide {channels} channels")
        self.heads = heads
        self.project = nn.Linear(channels, 3 * channels)
        self.merge = nn.Linear(channels, channels)

    def forward(self, x, n_frames):
        batch, frames, channels = x.shape
        inside = torch.arange(frames, device=x.device) < n_frames[:, None]
        q, k, v = self.project(x).view(batch, frames, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q = q / q.shape[-1] ** 0.5
        scores = q @ k.transpose(-2, -1)
        out = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, frames, channels)
        return self.merge(out) * inside[..., None]
