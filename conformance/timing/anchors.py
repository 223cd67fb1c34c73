"""Anchors: every contender's time is divided by an anchor's. Ratios outlive the machine; seconds do not.

The anchor of attention is torch's fused kernel; of multi-head attention, the same kernel between linear layers; of an
encoder layer, torch.nn's functions in the same order; of encodings and norms, a copy of as many bytes.
Anchors are written without a module, as lean as torch allows.
"""

from typing import Any

import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnconf.adapters.contract import Forward, Weights
from attnconf.conformance.chapters.contents import timed
from attnconf.conformance.engine.request import Implementation

CUDA_BACKENDS = ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")


def anchors(device: str, component: str) -> list[Implementation]:
    """Return the possible anchors: on the CPU torch's own choice of kernel, on CUDA one for each backend."""
    if timed(component).copies:
        return [Implementation("copy", {component: copying})]
    if device == "cpu":
        return [_anchor("sdpa", None)]
    backends = [getattr(SDPBackend, name) for name in CUDA_BACKENDS if hasattr(SDPBackend, name)]
    return [_anchor(f"sdpa:{b.name.removesuffix('_ATTENTION').lower()}", b) for b in backends]


def _anchor(name: str, backend: Any) -> Implementation:
    kernel = Kernel(backend)
    components = {
        "attention": kernel.attention,
        "multi_head_attention": kernel.multi_head_attention,
        "encoder_layer": kernel.encoder_layer,
    }
    return Implementation(name, components, {"causal-alignment": "top-left"})


class Kernel:
    """Attention by one backend, and the components built on it."""

    def __init__(self, backend: Any):
        self.backend = backend

    def sdpa(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        grouped = query.shape[1] != key.shape[1]
        if self.backend is None:
            return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, enable_gqa=grouped)
        with sdpa_kernel(self.backend):
            return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, enable_gqa=grouped)

    def attention(self, config: Any, weights: Weights) -> Forward:
        def forward(query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor | None = None) -> Tensor:
            mask = None if key_mask is None else key_mask[:, None, None, :]
            return self.sdpa(query, key, value, mask, config.causal)

        return forward

    def multi_head_attention(self, config: Any, weights: Weights) -> Forward:
        def forward(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            return self._attend(query, key, value, weights, "", config.num_heads, config.causal)

        return forward

    def encoder_layer(self, config: Any, weights: Weights) -> Forward:
        def norm(x: Tensor, name: str) -> Tensor:
            return F.layer_norm(x, (config.embed_dim,), weights[f"{name}.weight"], weights[f"{name}.bias"], config.eps)

        def forward(x: Tensor) -> Tensor:
            x = norm(x + self._attend(x, x, x, weights, "attn.", config.num_heads, config.causal), "norm1")
            hidden = F.relu(F.linear(x, weights["ff.up.weight"], weights["ff.up.bias"]))
            return norm(x + F.linear(hidden, weights["ff.down.weight"], weights["ff.down.bias"]), "norm2")

        return forward

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, weights: Weights, under: str, heads: int, causal: bool
    ) -> Tensor:
        q, k, v = (
            F.linear(x, weights[f"{under}{name}.weight"], weights[f"{under}{name}.bias"])
            .unflatten(-1, (heads, -1))
            .transpose(1, 2)
            for name, x in (("q", query), ("k", key), ("v", value))
        )
        out = self.sdpa(q, k, v, None, causal).transpose(1, 2).flatten(2)
        return F.linear(out, weights[f"{under}out.weight"], weights[f"{under}out.bias"])


def copying(config: Any, weights: Weights) -> Forward:
    """Return x times 1: the memory traffic of an encoding or a norm without its arithmetic, backward too."""
    return lambda x: x * 1.0
