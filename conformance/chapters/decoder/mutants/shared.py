"""Ways to get decoder layers, and stacks of them, wrong: what the mutants of several sections use."""

from collections.abc import Callable
from typing import Any

from attnconf.adapters import reference as adapter
from attnconf.reference import decoder, encoder

# The parts that most mutants are made of. A layer is f(x, memory, weights, style, mask, memory_mask).
attend, look = decoder.attend_to_targets, decoder.attend_to_memory
think, normed = encoder.position_wise, encoder.normed
LAYERS = {"pre": decoder.pre_norm_decoder_layer, "post": decoder.post_norm_decoder_layer}


def around(change: Callable[..., Any]) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return both components, called as ``change(config, compute, x, memory, mask, memory_mask)``.

    ``compute(x, memory, mask, memory_mask)`` is the reference, with masks as the reference makes them.
    """

    def made(computed):
        def build(config, weights):
            def compute(x, memory, mask, memory_mask):
                return computed(x, memory, weights, adapter.style_of(config), mask, memory_mask)

            def forward(x, memory, *, key_mask=None, memory_mask=None):
                mask, hidden = adapter.mask_of_targets(x, key_mask), adapter.mask_of_memory(memory_mask)
                return change(config, compute, x, memory, mask, hidden)

            return forward

        return build

    return {adapter.decoder_layer: made(decoder.decoder_layer), adapter.decoder: made(decoder.decoder)}
