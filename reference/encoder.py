"""The encoder: self-attention and a feed-forward network, each with a residual and a norm; and a stack of these.

Symbols as in spec/encoder.md: B batch, L tokens, E width of the model, N layers; x what goes in, h what attention and
its residual give.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.feed_forward import feed_forward
from attnconf.reference.layer_norm import Divisor, layer_norm
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
    divisor: Divisor = Divisor()  # noqa: RUF009 (frozen); of layer norms
    rms_eps: str = "inside"  # or outside: where ε of RMS norms stands
    rotary: bool = False  # queries and keys are turned by their places
    placement: str | None = None  # of norms: sandwich, output, parallel, parallel-two; None: as norm_first says
    branch_scale: str = "none"  # or vector, scalar, one-scalar: learned factors on what sublayers add
    attention: Member = Member()  # noqa: RUF009 (frozen); what attention has besides, with ``eps`` for its norms


def under(weights: Weights, name: str) -> dict[str, Tensor]:
    """Return the weights of one part, "attn" or "layers.0" say, by their names within that part."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): w for key, w in weights.items() if key.startswith(prefix)}


def normed(x: Tensor, weights: Weights, name: str, style: Style) -> Tensor:
    """Return x, (B, L, E), after the norm of that name: "norm" is a stack's last, all others are a layer's.

    Raises KeyError where there is none, ValueError where its weight is not E wide.

    Requirements: ENC-NORM-1, ENC-EPS-1, ENC-KIND-1.
    """
    own = under(weights, name)
    if style.norm == "rms":
        return rms_norm(x, own["weight"], style.eps, style.rms_eps)
    return layer_norm(x, x.shape[-1:], own["weight"], own.get("bias"), style.eps, style.divisor)


def joined(x: Tensor, added: Tensor, weights: Weights, name: str, style: Style) -> Tensor:
    """Return the residual and what a sublayer adds to it, (B, L, E): times the factors of its branch, if it has any.

    Factors are E numbers, or one for all features; with "one-scalar" those of attention are the network's as well.

    Requirements: ENC-SCALE-1.
    Source: Touvron et al. 2021, arXiv:2103.17239v2, section 2 (LayerScale); Bachlechner et al. 2020,
    arXiv:2003.04887v2, section 3 (ReZero).
    """
    if style.branch_scale == "none":
        return x + added
    own = "scale1" if style.branch_scale == "one-scalar" else name
    return x + weights[f"{own}.weight"] * added


def self_attention(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return what attention adds to the residual.

    Shapes:
        x     (B, L, E)
        mask  broadcastable to (B, H, L, L), bool, True = may attend
        out   (B, L, E)

    Dropout is applied twice: to the attention weights, and to what comes out.

    Requirements: ENC-REACH-1, ENC-PERM-1, ENC-DROP-2, ENC-GROUP-1, ENC-QK-1, ENC-QK-2, ENC-HEAD-1,
    ENC-SCORE-1, ENC-CAP-1, ENC-WINDOW-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.2.3 and 5.4; of the rotation, spec/rotary.md; of shared
    heads, norms of queries and keys and relative biases, spec/attention_family.md.
    """
    own, of_heads, member = under(weights, "attn"), style.num_heads, member_of(style)
    if member == Member():
        out, _ = multi_head_attention(x, x, x, own, of_heads, mask, dropout=style.dropout)
    else:
        out, _ = family_attention(x, x, x, own, of_heads, member, mask, dropout=style.dropout)
    return drop(out, style.dropout)


def member_of(style: Style) -> Member:
    """Return which member of the attention family the layers of a style have."""
    positions = "rotary" if style.rotary else style.attention.positions
    eps = style.attention.qk_norm_eps if style.attention.qk_norm == "none" else style.eps
    return replace(style.attention, positions=positions, qk_norm_eps=eps)


def position_wise(x: Tensor, weights: Weights, style: Style) -> Tensor:
    """Return what the feed-forward network adds to the residual, (B, L, E), from x, (B, L, E), token by token.

    Dropout is applied twice: to the hidden features, and to what comes out.

    Requirements: ENC-TOKEN-1, ENC-ACT-1, ENC-DROP-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.3 and 5.4.
    Deviates: the paper drops no hidden features; torch.nn.TransformerEncoderLayer does.
    """
    return drop(feed_forward(x, under(weights, "ff"), style.activation, style.dropout), style.dropout)


def post_norm_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return norm2(h + FF(h)), (B, L, E), with h = norm1(x + SA(x)): the norm comes after each sum.

    Requirements: ENC-POST-1, ENC-ORDER-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1.
    """
    h = normed(joined(x, self_attention(x, weights, style, mask), weights, "scale1", style), weights, "norm1", style)
    return normed(joined(h, position_wise(h, weights, style), weights, "scale2", style), weights, "norm2", style)


def pre_norm_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return h + FF(norm2(h)), (B, L, E), with h = x + SA(norm1(x)): the residual itself is never normalized.

    Requirements: ENC-PRE-1, ENC-ORDER-1.
    Source: Xiong et al. 2020, arXiv:2002.04745v2, figure 1 (b).
    """
    attended = self_attention(normed(x, weights, "norm1", style), weights, style, mask)
    h = joined(x, attended, weights, "scale1", style)
    return joined(h, position_wise(normed(h, weights, "norm2", style), weights, style), weights, "scale2", style)


def sandwich_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return h + norm2_out(FF(norm2(h))), (B, L, E), with h = x + norm1_out(SA(norm1(x))): norms on both sides.

    Requirements: ENC-PLACE-1, ENC-PLACE-2, ENC-ORDER-1.
    Source: Gemma 2 (arXiv:2408.00118v3), section 2.
    """
    attended = self_attention(normed(x, weights, "norm1", style), weights, style, mask)
    h = joined(x, normed(attended, weights, "norm1_out", style), weights, "scale1", style)
    widened = position_wise(normed(h, weights, "norm2", style), weights, style)
    return joined(h, normed(widened, weights, "norm2_out", style), weights, "scale2", style)


def output_norm_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return h + norm2(FF(h)), (B, L, E), with h = x + norm1(SA(x)): what a sublayer gives is normalized.

    Requirements: ENC-PLACE-1, ENC-PLACE-2, ENC-ORDER-1.
    Source: Liu et al. 2021, arXiv:2111.09883v2, section 3.2 (Swin V2); OLMo 2 (arXiv:2501.00656v3), section 3.
    """
    attended = normed(self_attention(x, weights, style, mask), weights, "norm1", style)
    h = joined(x, attended, weights, "scale1", style)
    return joined(h, normed(position_wise(h, weights, style), weights, "norm2", style), weights, "scale2", style)


def parallel_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return x + SA(norm1(x)) + FF(norm1(x)), (B, L, E): attention and network side by side, behind one norm.

    Requirements: ENC-PLACE-1, ENC-PLACE-3.
    Source: GPT-J, published code; Chowdhery et al. 2022, arXiv:2204.02311v5, section 2 (PaLM).
    """
    n = normed(x, weights, "norm1", style)
    h = joined(x, self_attention(n, weights, style, mask), weights, "scale1", style)
    return joined(h, position_wise(n, weights, style), weights, "scale2", style)


def two_norm_parallel_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return x + SA(norm1(x)) + FF(norm2(x)), (B, L, E): side by side, each behind a norm of its own.

    Requirements: ENC-PLACE-1, ENC-PLACE-3.
    Source: Black et al. 2022, arXiv:2204.06745v1, section 2 (GPT-NeoX).
    """
    attended = self_attention(normed(x, weights, "norm1", style), weights, style, mask)
    h = joined(x, attended, weights, "scale1", style)
    return joined(h, position_wise(normed(x, weights, "norm2", style), weights, style), weights, "scale2", style)


def encoder_layer(x: Tensor, weights: Weights, style: Style, mask: Tensor | None = None) -> Tensor:
    """Return the output of one layer.

    Shapes:
        x        (B, L, E)
        weights  attn.*, ff.*, norm1.*, and, but for "parallel", norm2.*; of "sandwich" also norm1_out.*, norm2_out.*;
                 with factors scale1.*, and, but for "one-scalar", scale2.*
        mask     broadcastable to (B, H, L, L), bool, True = may attend
        out      (B, L, E)

    Raises KeyError where a weight is missing, ValueError or RuntimeError where the shapes do not fit.

    Requirements: ENC-ORACLE-1.
    Source: as for ``post_norm_layer``, ``pre_norm_layer`` and the others.
    """
    layers = {
        "sandwich": sandwich_layer,
        "output": output_norm_layer,
        "parallel": parallel_layer,
        "parallel-two": two_norm_parallel_layer,
        None: pre_norm_layer if style.norm_first else post_norm_layer,
    }
    return layers[style.placement](x, weights, style, mask)


def count_layers(weights: Weights) -> int:
    """Return how many layers a stack has weights for."""
    return len({name.split(".")[1] for name in weights if name.startswith("layers.")})


def in_layer(weights: Weights, i: int) -> dict[str, Tensor]:
    """Return the weights of layer i by their names within it: its own, and the relative bias that all layers share.

    Requirements: ENC-RELATIVE-1.
    Source: Raffel et al. 2020, arXiv:1910.10683v4, section 2.1.
    """
    shared = {f"attn.relative.{name}": w for name, w in under(weights, "relative").items()}
    return under(weights, f"layers.{i}") | shared


def encoder(x: Tensor, weights: Weights, style: Style, mask: Tensor | None = None) -> Tensor:
    """Return the output of a stack: layer after layer, each with its own weights and the same mask.

    Shapes:
        x        (B, L, E)
        weights  layers.0.*, layers.1.*, …, and, or not at all, norm.* of a last norm, relative.* of all layers
        mask     broadcastable to (B, H, L, L)
        out      (B, L, E)

    Raises as ``encoder_layer`` does.

    Requirements: ENC-OWN-1, ENC-STACK-1, ENC-DEPTH-1, ENC-FINAL-1, ENC-ORACLE-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1; Xiong et al. 2020, arXiv:2002.04745v2, section 3.1,
    for the last norm, which pre-norm stacks need.
    """
    for i in range(count_layers(weights)):
        x = encoder_layer(x, in_layer(weights, i), style, mask)
    return normed(x, weights, "norm", style) if "norm.weight" in weights else x
