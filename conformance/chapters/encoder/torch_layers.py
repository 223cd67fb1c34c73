"""torch's own encoder layers and stacks, with our weights: what implementations are compared with where torch can."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.chapters.shared.in_torch import called_with
from attnconf.conformance.chapters.shared.layers import papers_norm

Weights = Mapping[str, Tensor]
_ACTIVATIONS = ("relu", "gelu")
_PARTS = {
    "attn.out": "self_attn.out_proj",
    "ff.up": "linear1",
    "ff.down": "linear2",
    "norm1": "norm1",
    "norm2": "norm2",
}


def expressible(config: Any) -> bool:
    """Return whether torch has layers of this configuration."""
    plain = config.placement is None and config.branch_scale == config.score_bias == "none"
    torchs = config.norm == "layer" and plain
    return papers_norm(config) and torchs and config.activation in _ACTIVATIONS and not config.gated


def layer_state(weights: Weights, under: str = "", name: str = "") -> dict[str, Tensor]:
    """Return the weights of one layer by torch's names; ``under`` and ``name`` are what precedes them."""
    state = {}
    for kind in ("weight", "bias"):
        for ours, theirs in _PARTS.items():
            if f"{under}{ours}.{kind}" in weights:
                state[f"{name}{theirs}.{kind}"] = weights[f"{under}{ours}.{kind}"]
        if f"{under}attn.q.{kind}" in weights:
            state[f"{name}self_attn.in_proj_{kind}"] = torch.cat([weights[f"{under}attn.{n}.{kind}"] for n in "qkv"])
    return state


def encoder_in_torch(config: Any, weights: Weights, x: Tensor, seen: Tensor) -> Tensor:
    """Return the output of torch's layer, or of its stack where the configuration is that of one; differentiable.

    ``seen``, (B, L, L), is True where a query may look at a key. In training mode without dropout, which keeps torch
    off its fast path.
    """
    layer = nn.TransformerEncoderLayer(
        config.embed_dim, config.num_heads, config.hidden_dim, dropout=0.0, activation=config.activation,
        layer_norm_eps=config.eps, batch_first=True, norm_first=config.norm_first, bias=config.bias, dtype=x.dtype,
        device=x.device,
    )  # fmt: skip
    # as a mask for each head, not as src_key_padding_mask: torch imports 500 modules (0.35 s) to look at one
    hidden = ~seen.repeat_interleave(config.num_heads, dim=0)
    if not hasattr(config, "num_layers"):
        return called_with(layer, layer_state(weights), (x,), {"src_mask": hidden})
    last = nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias) if config.final_norm else None
    stack = nn.TransformerEncoder(layer, config.num_layers, last, enable_nested_tensor=False)
    state = {f"norm.{k}": weights[f"norm.{k}"] for k in ("weight", "bias") if f"norm.{k}" in weights}
    for i in range(config.num_layers):
        state |= layer_state(weights, f"layers.{i}.", f"layers.{i}.")
    return called_with(stack, state, (x,), {"mask": hidden})
