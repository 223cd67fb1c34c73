"""A pre-norm encoder as two pure functions, moved over from a tree of arrays; whole multiples for the network."""

import dataclasses

import torch
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Settings:
    width: int = 64
    n_heads: int = 4
    depth: int = 2
    mlp_mult: int = 4
    drop_rate: float = 0.0


def _matrix(rng, rows, columns):
    return {"w": torch.randn(rows, columns, generator=rng) / rows**0.5, "b": torch.zeros(columns)}


def init_encoder(rng: torch.Generator, settings: Settings):
    d, blocks = settings.width, []
    for _ in range(settings.depth):
        blocks.append(
            {
                "before_attention": {"g": torch.ones(d), "s": torch.zeros(d)},
                "attention": {name: _matrix(rng, d, d) for name in ("q", "k", "v", "o")},
                "before_mlp": {"g": torch.ones(d), "s": torch.zeros(d)},
                "mlp": [_matrix(rng, d, d * settings.mlp_mult), _matrix(rng, d * settings.mlp_mult, d)],
            }
        )
    return {"blocks": blocks, "last": {"g": torch.ones(d), "s": torch.zeros(d)}}


def _linear(p, x):
    return x @ p["w"] + p["b"]


def _norm(p, x):
    return F.layer_norm(x, x.shape[-1:], p["g"], p["s"])


def _attend(p, x, real, heads):
    q, k, v = (_linear(p[n], x).unflatten(-1, (heads, -1)).transpose(1, 2) for n in "qkv")
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    if real is not None:
        scores = scores.masked_fill(real[:, None, None, :] == 0, -torch.inf)
    return _linear(p["o"], (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def apply_encoder(params, x, padding_mask=None, *, settings: Settings, is_training: bool = False):
    """x (B, T, D); padding_mask (B, T), 1 where there is a token; is_training lets the dropout drop."""

    def drop(y):
        return F.dropout(y, settings.drop_rate, training=is_training)

    for p in params["blocks"]:
        x = x + drop(_attend(p["attention"], _norm(p["before_attention"], x), padding_mask, settings.n_heads))
        x = x + drop(_linear(p["mlp"][1], F.silu(_linear(p["mlp"][0], _norm(p["before_mlp"], x)))))
    return _norm(params["last"], x)
