"""A class's answers to one skeleton of a homework: right in many ways, and three of ten wrong; for the benchmark."""

import itertools
import random
from collections.abc import Iterator

SKELETON = '''\
import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    """Student {number}."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        {split}

    def forward(self, query, key, value, mask=None):
        {first}, k, v = self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value))
        {scores}
        if mask is not None:
            {mask}
        weights = {softmax}
        {joined}
        return {out}
'''
RIGHT = {
    "split": (
        "return x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)",
        "return x.view(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)",
        "b, n, _ = x.shape\n        return x.reshape(b, n, self.num_heads, -1).permute(0, 2, 1, 3)",
        "return torch.stack(x.chunk(self.num_heads, dim=-1), dim=1)",
    ),
    "scores": (
        "scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)",
        "scores = torch.matmul(q * self.head_dim**-0.5, k.mT)",
        'scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / self.head_dim**0.5',
    ),
    "mask": (
        'scores = scores.masked_fill(~mask, float("-inf"))',
        'scores = torch.where(mask, scores, torch.tensor(-float("inf"), dtype=scores.dtype))',
    ),
    "softmax": ("torch.softmax(scores, dim=-1)", "F.softmax(scores, -1)", "scores.softmax(-1)"),
    "joined": (
        "x = (weights @ v).transpose(1, 2).flatten(2)",
        "x = torch.einsum('bhqk,bhkd->bqhd', weights, v).reshape(query.shape[0], query.shape[1], self.embed_dim)",
        "x = torch.cat((weights @ v).unbind(1), dim=-1)",
    ),
    "out": ("self.out_proj(x)",),
}
WRONG = {
    "split": ("return x.reshape(x.shape[0], self.num_heads, -1, self.head_dim)",),
    "scores": (
        "scores = q @ k.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)",
        "scores = q @ k.transpose(-2, -1) / self.head_dim",
    ),
    "mask": ("scores = scores.masked_fill(mask, float('-inf'))", "scores = scores.masked_fill(~mask, 0.0)"),
    "softmax": ("torch.softmax(scores, dim=-2)", "torch.softmax(scores, dim=1)", "torch.sigmoid(scores)"),
    "joined": ("x = (weights @ v).reshape(query.shape[0], query.shape[1], self.embed_dim)",),
    "out": ("x",),
}
MISTAKES = [(part, text) for part, texts in WRONG.items() for text in texts]


def submissions(count: int, seed: int = 0) -> Iterator[str]:
    """Yield the texts of so many submissions, no two alike."""
    chance, mistakes = random.Random(seed), itertools.cycle(MISTAKES)
    for number in range(count):
        parts = {name: chance.choice(texts) for name, texts in RIGHT.items()}
        if number % 10 in (2, 5, 8):
            parts |= dict([next(mistakes)])
        yield SKELETON.format(number=number, first="q", **parts)
