"""The encoder: self-attention and a feed-forward network, each with a residual and a norm; and a stack of these.

Symbols as in spec/encoder.md: B batch, L tokens, E width of the model, N layers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.feed_forward import feed_forward
from attnconf.reference.layer_norm import layer_norm
from attnconf.reference.multi_head_attention import multi_head_attention
from attnconf.reference.rms_norm import rms_norm

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class Style:
    """What all layers of a stack have in common. ``dropout`` is a probability; 0 outside training."""

    num_heads: int
    norm_first: bool = False
    norm: str = "layer"  # or rms
    eps: float = 1e-5
    activation: str = "relu"
    dropout: float = 0.0


def under(weights: Weights, name: str) -> dict[str, Tensor]:
    """Return the weights of one part, "attn." or "layers.0." say, by their names within that part."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): w for key, w in weights.items() if key.startswith(prefix)}


def normed(x: Tensor, weights: Weights, name: str, style: Style) -> Tensor:
    """Return x, (B, L, E), after the norm of that name."""
    own = under(weights, name)
    if style.norm == "rms":
        return rms_norm(x, own["weight"], style.eps)
    return layer_norm(x, x.shape[-1:], own["weight"], own.get("bias"), style.eps)


def self_attention(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return what tokens attend to, (B, L, E), which is added to the residual."""
    out, _ = multi_head_attention(x, x, x, under(weights, "attn"), style.num_heads, mask, dropout=style.dropout)
    return drop(out, style.dropout)


def position_wise(x: Tensor, weights: Weights, style: Style) -> Tensor:
    """Return the output of the feed-forward network, (B, L, E), which is added to the residual."""
    return drop(feed_forward(x, under(weights, "ff"), style.activation, style.dropout), style.dropout)


def post_norm_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return the layer as Vaswani et al. have it: the norm comes after each sum."""
    h = normed(x + self_attention(x, weights, style, mask), weights, "norm1", style)
    return normed(h + position_wise(h, weights, style), weights, "norm2", style)


def pre_norm_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return the layer with the norm inside each branch: the residual itself is never normalized."""
    h = x + self_attention(normed(x, weights, "norm1", style), weights, style, mask)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


def encoder_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None = None) -> Tensor:
    """Return the output of one layer.

    Shapes:
        x        (B, L, E)
        weights  attn.*, ff.*, norm1.*, norm2.*
        mask     broadcastable to (B, H, L, L), bool, True = may attend
        out      (B, L, E)

    Requirements: ENC-ORACLE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1; Xiong et al. 2020, arXiv:2002.04745v2, figure 1,
    for the pre-norm layer.
    """
    layer = pre_norm_layer if style.norm_first else post_norm_layer
    return layer(x, weights, style, mask)


def count_layers(weights: Weights) -> int:
    """Return how many layers a stack has weights for."""
    return len({name.split(".")[1] for name in weights if name.startswith("layers.")})


def encoder(x: Tensor, weights: Weights, style: Style, mask: Tensor | None = None) -> Tensor:
    """Return the output of a stack: layer after layer, each with its own weights and the same mask.

    Shapes:
        x        (B, L, E)
        weights  layers.0.*, layers.1.*, …, and, or not at all, norm.* of a last norm
        mask     broadcastable to (B, H, L, L)
        out      (B, L, E)

    Requirements: ENC-ORACLE-2.
    Source: as for ``encoder_layer``; Xiong et al. 2020 for the last norm, which pre-norm stacks need.
    """
    for i in range(count_layers(weights)):
        x = encoder_layer(x, under(weights, f"layers.{i}"), style, mask)
    return normed(x, weights, "norm", style) if "norm.weight" in weights else x
