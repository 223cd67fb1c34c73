"""Position-wise feed-forward network: widen, activate, narrow; each token by itself.

Symbols as in spec/feed_forward.md: E width of the model, F of the hidden features.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0).

    Requirements: FF-RELU-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, eq. (2).
    """
    return x.clamp(min=0)


def gelu(x: Tensor) -> Tensor:
    """Return x·Φ(x), Φ the distribution function of the normal distribution.

    Requirements: FF-GELU-1.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415v5, section 2.
    """
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Tensor) -> Tensor:
    """Return the approximation of GELU by tanh, which differs from it by up to 4.73e-4.

    Requirements: FF-GELUTANH-1.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415v5, section 2.
    """
    return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def quick_gelu(x: Tensor) -> Tensor:
    """Return x·σ(1.702·x), the approximation of GELU by a sigmoid, which differs from it by up to 0.0203.

    Requirements: FF-QUICKGELU-1.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415v5, section 2; the code of CLIP.
    """
    return x * torch.sigmoid(1.702 * x)


def silu(x: Tensor) -> Tensor:
    """Return x·σ(x).

    Requirements: FF-SILU-1.
    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415v5, section 2 ("SiLU"); Ramachandran et al. 2017, Swish.
    """
    return x * torch.sigmoid(x)


def sigmoid(x: Tensor) -> Tensor:
    """Return σ(x) = 1 / (1 + e^-x).

    Requirements: FF-SIGMOID-1.
    """
    return torch.sigmoid(x)


def activate(x: Tensor, activation: str) -> Tensor:
    """Return the activation of that name, as spec/feed_forward.md has them, of x (...).

    Requirements: FF-NONE-1, and those of the names.
    Raises ValueError for another name.
    """
    if activation == "relu":
        return relu(x)
    if activation == "gelu":
        return gelu(x)
    if activation == "gelu-tanh":
        return gelu_tanh(x)
    if activation == "quick-gelu":
        return quick_gelu(x)
    if activation == "silu":
        return silu(x)
    if activation == "sigmoid":
        return sigmoid(x)
    if activation == "none":
        return x
    raise ValueError(f"no activation {activation!r}: want relu, gelu, gelu-tanh, quick-gelu, silu, sigmoid or none")


def linear(x: Tensor, weights: Mapping[str, Tensor], name: str) -> Tensor:
    """Return x Wᵀ + b for the layer of that name, weight (O, I); without a bias of its name, x Wᵀ."""
    y = x @ weights[f"{name}.weight"].T  # (..., I) (I, O) -> (..., O)
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def widen(x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the hidden features before activation, (B, L, F), of x (B, L, E).

    Requirements: FF-TOKEN-1, FF-BATCH-1, FF-PLACE-1, FF-UP-1, FF-BIAS-1.
    """
    return linear(x, weights, "up")


def open_gate(x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the gate before activation, (B, L, F), of x (B, L, E).

    Requirements: FF-GATE-3.
    """
    return linear(x, weights, "gate")


def let_through(gate: Tensor, up: Tensor, activation: str) -> Tensor:
    """Return act(gate) · up, feature by feature.

    Requirements: FF-GATE-1, FF-GATE-2 (declares: gate).
    Source: Shazeer 2020, arXiv:2002.05202v1, eq. (5) and (6).
    """
    return activate(gate, activation) * up


def hidden(x: Tensor, weights: Mapping[str, Tensor], activation: str) -> Tensor:
    """Return the hidden features, (B, L, F): activated, or, with a gate, multiplied by the activated gate.

    Source: Vaswani et al. 2017, eq. (2); Shazeer 2020, arXiv:2002.05202v1, eq. (5) and (6), for the gate.
    """
    up = widen(x, weights)  # (B, L, F)
    if "gate.weight" not in weights:
        return activate(up, activation)
    return let_through(open_gate(x, weights), up, activation)


def drop_hidden(features: Tensor, probability: float) -> Tensor:
    """Return the hidden features (B, L, F), each zero with that probability and divided by what is left of 1 otherwise.

    Requirements: FF-DROP-1, FF-DROP-2, FF-DROP-3.
    """
    return torch.dropout(features, probability, train=probability > 0)


def narrow(features: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the output, (B, L, E), of the hidden features (B, L, F).

    Requirements: FF-DOWN-1, FF-BIAS-2, FF-HIDDEN-1.
    """
    return linear(features, weights, "down")


def feed_forward(x: Tensor, weights: Mapping[str, Tensor], activation: str = "relu", dropout: float = 0.0) -> Tensor:
    """Return the network's output.

    Shapes:
        x        (B, L, E)
        weights  up.weight (F, E), down.weight (E, F), and, or not at all, gate.weight (F, E), up.bias, gate.bias (F,),
                 down.bias (E,)
        out      (B, L, E)

    ``dropout``, on the activated hidden features, is a probability; pass 0 outside training.
    Raises RuntimeError where the shapes do not fit, ValueError for an unknown activation.

    Requirements: the whole chapter (FF-ORACLE-1).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.3.
    """
    return narrow(drop_hidden(hidden(x, weights, activation), dropout), weights)
