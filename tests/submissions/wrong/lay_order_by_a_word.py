"""Bewertungen einordnen: ein kleiner Encoder, ganz aus seiner Konfiguration gebaut."""

import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Bauplan:
    vocab_size: int = 5000
    d_model: int = 96
    heads: int = 6
    d_ff: int = 384
    num_layers: int = 3
    max_len: int = 400
    positions: str = "sinus"  # "sinus" or "keine"
    dropout: float = 0.1


def sinus(n, d):
    rate = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    winkel = torch.arange(n, dtype=torch.float64)[:, None] * rate
    return torch.stack((winkel.sin(), winkel.cos()), dim=-1).flatten(1)[:, :d]


class Schicht(nn.Module):
    def __init__(self, plan: Bauplan):
        super().__init__()
        self.attn = nn.MultiheadAttention(plan.d_model, plan.heads, dropout=plan.dropout, batch_first=True)
        self.ff = nn.Sequential(
            nn.Linear(plan.d_model, plan.d_ff), nn.ReLU(), nn.Dropout(plan.dropout), nn.Linear(plan.d_ff, plan.d_model)
        )
        self.norm1, self.norm2 = nn.LayerNorm(plan.d_model), nn.LayerNorm(plan.d_model)
        self.drop = nn.Dropout(plan.dropout)

    def forward(self, x, pad):
        x = self.norm1(x + self.drop(self.attn(x, x, x, key_padding_mask=pad, need_weights=False)[0]))
        return self.norm2(self.drop(self.ff(x)))


class SatzEncoder(nn.Module):
    """ids (B, T) -> (B, T, d_model); pad (B, T), True where there is no word."""

    def __init__(self, plan: Bauplan):
        super().__init__()
        self.wort = nn.Embedding(plan.vocab_size, plan.d_model)
        if plan.positions == "sinus":
            self.register_buffer("ort", sinus(plan.max_len, plan.d_model).float(), persistent=False)
        elif plan.positions == "keine":
            self.register_buffer("ort", torch.zeros(plan.max_len, plan.d_model), persistent=False)
        else:
            raise ValueError(f"unbekannt: {plan.positions!r}")
        self.schichten = nn.ModuleList(Schicht(plan) for _ in range(plan.num_layers))
        self.drop = nn.Dropout(plan.dropout)
        self.wurzel = math.sqrt(plan.d_model)

    def forward(self, ids, pad=None):
        x = self.drop(self.wort(ids) * self.wurzel + self.ort[: ids.size(1)])
        for schicht in self.schichten:
            x = schicht(x, pad)
        return x
