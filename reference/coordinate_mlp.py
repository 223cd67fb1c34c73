"""A coordinate MLP: from the coordinates of a pixel to its colour, through Fourier features; and a picture to learn.

Symbols as in spec/coordinate_mlp.md: N points, d coordinates, W width of the features, C colours.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, einsum

from attnconf.reference.fourier import fourier

# -- the network


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return x Wᵀ + b: x (N, I), weight (O, I), bias (O,), out (N, O)."""
    return einsum("ni,oi->no", x, weight) + bias  # (N, O)


def activate(x: Tensor) -> Tensor:
    """Return ReLU, what is negative becomes 0: x and out (N, W).

    Requirements: CMLP-RELU-1, CMLP-RELU-2.
    """
    return x.clamp_min(0)


def layers(x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the linear layers 0, 1, … of ``weights``, one after the other, with ReLU between them.

    Shapes:
        x    (N, I)   I as in 0.weight (…, I)
        out  (N, C)   C as in the last weight (C, …)

    Requirements: CMLP-BIAS-1, CMLP-LAST-1.
    """
    last = len(weights) // 2 - 1
    for i in range(last):
        x = activate(linear(x, weights[f"{i}.weight"], weights[f"{i}.bias"]))
    return linear(x, weights[f"{last}.weight"], weights[f"{last}.bias"])


def coordinate_mlp(x: Tensor, frequencies: Sequence[float], weights: Mapping[str, Tensor]) -> Tensor:
    """Return a colour for every point: x (N, d), out (N, C).

    Requirements: CMLP-FEATURES-1, CMLP-POINTS-1.
    Source: Tancik et al. 2020, arXiv:2006.10739v1, section 5.
    """
    return layers(fourier(x, frequencies), weights)


# -- the picture


def grid(height: int, width: int) -> Tensor:
    """Return the centres (x, y) of the pixels, row by row: (height·width, 2), each coordinate within 0 … 1."""
    y = (torch.arange(height, dtype=torch.float32) + 0.5) / height
    x = (torch.arange(width, dtype=torch.float32) + 0.5) / width
    return torch.stack([x.repeat(height), y.repeat_interleave(width)], dim=-1)  # (height·width, 2)


def rose(points: Tensor) -> Tensor:
    """Return the colours of a polar rose, r = |cos 3.5 φ|, drawn by formula and so as fine as one asks for.

    Shapes:
        points  (N, d)  d = 2, x and y within 0 … 1
        out     (N, C)  C = 3,  red, green, blue within 0 … 1
    """
    x, y = (2.2 * points - 1.1).unbind(-1)  # (N,) each
    r, phi = torch.hypot(x, y), torch.atan2(y, x)
    petals = torch.sigmoid(40 * (0.95 * torch.cos(3.5 * phi).abs() - r))  # 1 within a petal, 0 outside, edge of 0.1
    veins = 0.5 + 0.5 * torch.cos(40 * r + 2 * torch.cos(7 * phi))
    heart = torch.sigmoid(40 * (0.18 - r))
    flower = torch.stack([0.95 - 0.35 * veins * r, 0.15 + 0.45 * veins * (1 - r), 0.35 + 0.35 * r], dim=-1)
    ground = torch.stack([0.08 + 0.1 * y, 0.16 + 0.12 * x, 0.2 + 0.1 * (x + y)], dim=-1)
    yellow = torch.tensor([1.0, 0.85, 0.2]).to(points)
    petals, heart = petals[:, None], heart[:, None]  # (N, 1) each
    return (heart * yellow + (1 - heart) * (petals * flower + (1 - petals) * ground)).clamp(0, 1)


# -- learning it


def draw_weights(sizes: Sequence[int], generator: torch.Generator) -> dict[str, Tensor]:
    """Return weights and biases of layers between ``sizes``, uniform in ±1/√(fan in) as ``nn.Linear`` has them."""
    weights = {}
    for i, (wide, narrow) in enumerate(pairwise(sizes)):
        for name, shape in ((f"{i}.weight", (narrow, wide)), (f"{i}.bias", (narrow,))):
            weights[name] = (2 * torch.rand(shape, generator=generator) - 1) / math.sqrt(wide)
    return weights


def learn(
    features: Tensor, colours: Tensor, weights: Mapping[str, Tensor], steps: Iterable[int], rate: float = 3e-3
) -> dict[str, Tensor]:
    """Return the weights after Adam has lowered the mean squared error, all points in every step.

    Shapes:
        features  (N, W)
        colours   (N, C)

    Source: Kingma and Ba 2015, arXiv:1412.6980v9, algorithm 1, with β₁ = 0.9, β₂ = 0.99, ε = 1e-8.
    """
    weights = {name: w.clone().requires_grad_() for name, w in weights.items()}
    mean = {name: torch.zeros_like(w) for name, w in weights.items()}
    square = {name: torch.zeros_like(w) for name, w in weights.items()}
    for step in steps:
        loss = (layers(features, weights) - colours).square().mean()
        grads = torch.autograd.grad(loss, list(weights.values()))
        with torch.no_grad():
            for (name, w), grad in zip(weights.items(), grads, strict=True):
                mean[name].lerp_(grad, 0.1)
                square[name].lerp_(grad.square(), 0.01)
                m, v = mean[name] / (1 - 0.9 ** (step + 1)), square[name] / (1 - 0.99 ** (step + 1))
                w -= rate * m / (v.sqrt() + 1e-8)
    return {name: w.detach() for name, w in weights.items()}


def psnr(got: Tensor, want: Tensor) -> float:
    """Return the peak signal-to-noise ratio in dB, 10 log₁₀(1 / mean squared error), of colours (N, C) within 0 … 1."""
    return -10 * float((got - want).square().mean().log10())
