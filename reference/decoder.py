"""The decoder: causal self-attention, attention to the encoder's memory, a feed-forward network; and a stack of these.

Symbols as in spec/decoder.md: B batch, L targets, S tokens of the memory, E width of the model, N layers.
"""

from torch import Tensor

from attnconf.reference.attention import drop
from attnconf.reference.encoder import Style, Weights, count_layers, normed, position_wise, under
from attnconf.reference.multi_head_attention import multi_head_attention


def attend_to_targets(x: Tensor, weights: Weights, style: Style, mask: Tensor) -> Tensor:
    """Return what targets attend to among themselves, which is added to the residual.

    Shapes:
        x        (B, L, E)   targets; queries, keys and values are all made from them
        weights  self.*
        mask     broadcastable to (B, H, L, L), bool, True = may attend; causal
        out      (B, L, E)

    Requirements: DEC-CAUSAL-1, DEC-CAUSAL-2, DEC-PREFIX-1, DEC-PAD-1, DEC-PAD-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3, third point.
    """
    out, _ = multi_head_attention(x, x, x, under(weights, "self"), style.num_heads, mask, dropout=style.dropout)
    return drop(out, style.dropout)


def attend_to_memory(x: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor | None) -> Tensor:
    """Return what targets attend to in the memory, which is added to the residual.

    Shapes:
        x        (B, L, E)   targets; queries are made from them
        memory   (B, S, E)   keys and values are made from it
        weights  cross.*
        mask     broadcastable to (B, H, L, S), bool, True = may attend; not causal
        out      (B, L, E)

    Requirements: DEC-MEMORY-1, DEC-VALUE-1, DEC-PERM-1, DEC-HIDE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3, first point.
    """
    own = under(weights, "cross")
    out, _ = multi_head_attention(x, memory, memory, own, style.num_heads, mask, dropout=style.dropout)
    return drop(out, style.dropout)


def post_norm_decoder_layer(
    x: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor, memory_mask: Tensor | None
) -> Tensor:
    """Return the layer as Vaswani et al. have it: the norm comes after each sum.

    Requirements: DEC-ORDER-1, DEC-ZERO-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1.
    """
    h = normed(x + attend_to_targets(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + attend_to_memory(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + position_wise(h, weights, style), weights, "norm3", style)


def pre_norm_decoder_layer(
    x: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor, memory_mask: Tensor | None
) -> Tensor:
    """Return the layer with the norm inside each branch; the memory is not normalized here, the encoder did that.

    Requirements: DEC-ORDER-1, DEC-ZERO-1, DEC-NORM-1.
    Source: Xiong et al. 2020, arXiv:2002.04745v2, figure 1 (b), of the encoder.
    """
    h = x + attend_to_targets(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + attend_to_memory(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + position_wise(normed(h, weights, "norm3", style), weights, style)


def decoder_layer(
    x: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor, memory_mask: Tensor | None = None
) -> Tensor:
    """Return the output of one layer.

    Shapes:
        x            (B, L, E)
        memory       (B, S, E)
        weights      self.*, cross.*, ff.*, norm1.*, norm2.*, norm3.*
        mask         broadcastable to (B, H, L, L), bool, True = may attend; causal
        memory_mask  broadcastable to (B, H, L, S)
        out          (B, L, E)

    Raises KeyError where a weight is missing, ValueError or RuntimeError where shapes do not fit.

    Requirements: DEC-ORACLE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1; Xiong et al. 2020, arXiv:2002.04745v2, figure 1,
    for the pre-norm layer.
    """
    layer = pre_norm_decoder_layer if style.norm_first else post_norm_decoder_layer
    return layer(x, memory, weights, style, mask, memory_mask)


def last_norm(x: Tensor, weights: Weights, style: Style) -> Tensor:
    """Return x, (B, L, E), after the norm of the whole stack, if there is one.

    Requirements: DEC-FINAL-1.
    """
    return normed(x, weights, "norm", style) if "norm.weight" in weights else x


def decoder(
    x: Tensor, memory: Tensor, weights: Weights, style: Style, mask: Tensor, memory_mask: Tensor | None = None
) -> Tensor:
    """Return the output of a stack: every layer has its own weights, and they all see the same memory.

    Shapes as for ``decoder_layer``; weights layers.0.*, layers.1.*, …, and, or not at all, norm.* of a last norm.

    Requirements: DEC-STACK-1, DEC-ORACLE-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.1.
    """
    for i in range(count_layers(weights)):
        x = decoder_layer(x, memory, under(weights, f"layers.{i}"), style, mask, memory_mask)
    return last_norm(x, weights, style)
