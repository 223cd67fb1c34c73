from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Score:
    width: int = 512
    voices: int = 8
    window: int = 128


def near(n, span):
    """The sliding window: a note listens to itself and to the span - 1 notes before it, to none behind it."""
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & (back <= span)


class NoteAttention(nn.Module):
    """Attention of a melody, (songs, notes, width), within a sliding window."""

    def __init__(self, score: Score):
        super().__init__()
        self.score = score
        self.to_q = nn.Linear(score.width, score.width, bias=False)
        self.to_k = nn.Linear(score.width, score.width, bias=False)
        self.to_v = nn.Linear(score.width, score.width, bias=False)
        self.to_out = nn.Linear(score.width, score.width, bias=False)

    def forward(self, notes):
        songs, n, _ = notes.shape
        q, k, v = (
            layer(notes).reshape(songs, n, self.score.voices, -1).transpose(1, 2)
            for layer in (self.to_q, self.to_k, self.to_v)
        )
        heard = F.scaled_dot_product_attention(q, k, v, attn_mask=near(n, self.score.window).to(notes.device))
        return self.to_out(heard.transpose(1, 2).reshape(songs, n, -1))
