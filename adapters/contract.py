"""The contract between the suite and an adapter: configurations, weights, and the call.

An adapter is a Python module. For each component that it implements it defines one function of that
name, ``attention(config, weights)`` or ``multi_head_attention(config, weights)``, which returns a callable

    forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False)

that gives ``out``, or ``(out, weights)`` if and only if ``need_weights`` is true. An adapter needs to import
nothing from here: the configurations are handed to it. Masks are boolean, True = may attend:

    key_mask   (B, S)
    attn_mask  broadcastable to (B, H, L, S)
    attn_bias  float, broadcastable to (B, H, L, S), added to the scaled scores

An argument is only passed when a check needs it. What is not supported raises
``NotImplementedError("in words")``, when built or when called. Dtype and device are those of the weights
and inputs. Neither may be changed in place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

Weights = Mapping[str, Tensor]
Forward = Callable[..., Any]
Component = Callable[[Any, Weights], Forward]


@dataclass(frozen=True)
class AttentionConfig:
    """Scaled dot-product attention: query (B, H, L, E), key (B, H, S, E), value (B, H, S, F), out (B, H, L, F).

    ``weights`` is empty: this component has no parameters.
    """

    scale: float | None = None  # None: 1/√E
    causal: bool = False
    dropout: float = 0.0  # probability, on the attention weights, in training only
    training: bool = False


@dataclass(frozen=True)
class MultiHeadAttentionConfig:
    """Multi-head attention: query (B, L, embed_dim), key (B, S, key_dim), value (B, S, value_dim), out (B, L, out_dim).

    Weights, with W = num_heads · head_dim, stored as ``torch.nn.Linear`` stores them:
    ``q.weight`` (W, embed_dim), ``k.weight`` (W, key_dim), ``v.weight`` (W, value_dim), ``out.weight`` (out_dim, W);
    with ``bias`` also ``q.bias``, ``k.bias``, ``v.bias`` (W,) and ``out.bias`` (out_dim,).
    Returned attention weights have shape (B, num_heads, L, S).
    """

    embed_dim: int
    num_heads: int
    head_dim: int
    key_dim: int
    value_dim: int
    out_dim: int
    bias: bool = True
    causal: bool = False
    dropout: float = 0.0  # probability, on the attention weights, in training only
    training: bool = False


COMPONENTS: dict[str, type] = {
    "attention": AttentionConfig,
    "multi_head_attention": MultiHeadAttentionConfig,
}

# The choices that the spec leaves open, and what an adapter may declare for each.
CONVENTIONS: dict[str, tuple[str, ...]] = {
    "fully-masked-row": ("zeros", "nan", "mean"),
    "causal-alignment": ("top-left", "bottom-right"),
    "returned-weights": ("per-head", "averaged", "none"),
    "value-width": ("free", "key"),  # key: values must be as wide as keys
    "inputs": ("cross", "self"),  # self: query, key and value must be one tensor
    "causality": ("optional", "always"),
}
