"""Contenders that are no adapters: torch's flex_attention, and the reference as torch.compile makes it.

They are timed where somebody asks for them by name: compiling takes seconds, and a compiler.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from attnconf.adapters.contract import Component, Forward, Weights
from attnconf.conformance.door import Implementation, build
from attnconf.conformance.loading import load


def compiled_reference() -> Implementation:
    """Return the reference compiled, component by component, when it is built."""
    (reference,) = (i for i in load("reference") if isinstance(i, Implementation))

    def compiled(component: str) -> Component:
        def make(config: Any, weights: Weights) -> Forward:
            forward: Forward = torch.compile(build(reference, component, config, weights), dynamic=False)
            return forward

        return make

    components = {name: compiled(name) for name in reference.components}
    return replace(reference, name="reference (torch.compile)", components=components)


def flex_attention() -> Implementation:
    """Return torch.nn.attention.flex_attention, compiled; a causal mask is one of its block masks."""
    return Implementation("flex_attention", {"attention": _flex}, {"causal-alignment": "top-left"})


def _flex(config: Any, weights: Weights) -> Forward:
    from torch.nn.attention import flex_attention  # what it needs takes a second to import

    attend: Forward = torch.compile(flex_attention.flex_attention, dynamic=False)

    def earlier(sample: Any, head: Any, query: Any, key: Any) -> Any:
        return query >= key

    masks: dict[tuple[int, int, str], Any] = {}  # it depends on the lengths alone

    def forward(query: Any, key: Any, value: Any, key_mask: Any = None) -> Any:
        if key_mask is not None:
            raise NotImplementedError("padded batches: a block mask would have to be made anew for each")
        mask = None
        if config.causal:
            sizes = query.shape[2], key.shape[2], str(query.device)
            if sizes not in masks:
                masks[sizes] = flex_attention.create_block_mask(
                    earlier, None, None, sizes[0], sizes[1], device=sizes[2]
                )
            mask = masks[sizes]
        return attend(query, key, value, block_mask=mask, scale=config.scale)

    return forward


MADE: dict[str, Callable[[], Implementation]] = {"compiled": compiled_reference, "flex": flex_attention}
