"""A decoder layer that writes subtitles for the frames of a film (post-norm)."""

import torch
from torch import nn


class SubtitleLayer(nn.Module):
    """
    words (B, T, D)            the subtitle so far; no word sees a later one
    frames (B, F, D)           what the film's encoder gave
    frames_there (B, F)        True for frames of the film, False for filler
    """

    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.own = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.film = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, dim_feedforward), nn.ReLU(), nn.Linear(dim_feedforward, d_model))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, words, frames, frames_there=None):
        n = words.size(1)
        later = torch.triu(torch.ones(n, n, dtype=torch.bool, device=words.device), diagonal=1)
        filler = None if frames_there is None else ~frames_there
        words = self.norms[0](words + self.own(words, words, words, attn_mask=later, need_weights=False)[0])
        seen = self.film(words, frames, frames, key_padding_mask=filler, need_weights=False)[0]
        words = self.norms[1](words + seen)
        return self.norms[2](words + self.ff(words))
