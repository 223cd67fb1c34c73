"""Ways to get the laws of every call wrong: what the mutants of several sections use.

Each is the reference with something around each of its components. A mistake that only some component invites (a table
that grows, a cache with too small a key) stands in its chapter.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from attnconf.adapters import reference as adapter
from attnconf.adapters.contract import COMPONENTS, Build, Forward
from attnconf.conformance.worker.performing import callable_of

TENSORS = tuple(name for name, known in COMPONENTS.items() if known.returns == "tensor")
# They have no input of numbers that lies in memory.
GIVEN_LENGTHS = ("sinusoidal_2d", "alibi", "relative_bias", "causal_mask", "padding_mask", "decoder_mask")
POINTS = ("fourier", "random_fourier", "coordinate_mlp")  # they have one axis of points, and no tokens
# They have other requirements that are about a second call.
WITH_LAWS_OF_THEIR_OWN = ("sinusoidal", "learned", "random_fourier")
# They promise no dtype of half precision.
FREE_IN_HALF = ("attention", "multi_head_attention", "cached_attention", "alibi", "random_fourier", "coordinate_mlp")
NOT_ASKED_IN_TRAINING = ("sinusoidal", "learned", "feed_forward")
BIT_FOR_BIT = ("decoder_layer", "decoder")  # they have requirements that float32 breaks in float64
# Queries and keys that are turned in place have a mistake of their own. Second calls have the same contents.
ALIKE = ("rotary", "rotary_attention")
# Their second calls have other lengths.
OF_OTHER_LENGTHS = ("alibi_attention", "relative_bias_attention")
# Ids that change are other ids, or none; models read their source once more for the memory.
OF_IDS = ("encoder_decoder", "transformer", "language_model", "token_embedding", "token_attention")

Surround = Callable[[Any, Any, Forward], Forward]  # (config, weights, forward) -> another forward


def around(surround: Surround, *but: str) -> Mapping[Build, Build]:
    """Return each component that gives a tensor with something around its forward; without those named."""
    return {getattr(adapter, name): surrounded(name, surround) for name in TENSORS if name not in but}


def surrounded(name: str, surround: Surround) -> Build:
    def build(config, weights):
        return surround(config, weights, callable_of(getattr(adapter, name)(config, weights), name))

    return build


def leaving(change: Callable[[Tensor], Tensor], *but: str) -> Mapping[Build, Build]:
    """Return each component with its output changed; the weights of attention stay."""
    return around(lambda config, weights, forward: lambda *x, **more: changed(change, forward(*x, **more)), *but)


def changed(change: Callable[[Tensor], Tensor], out: Any) -> Any:
    return (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)


def entering(change: Callable[[Tensor], Tensor], *but: str) -> Mapping[Build, Build]:
    """Return each component with its inputs changed before it gets them; masks and positions stay."""
    return around(lambda config, weights, forward: lambda *x, **more: forward(*map(change, x), **more), *but)


def where(condition: Callable[[Any], bool], change: Callable[[Tensor], Tensor], *but: str) -> Mapping[Build, Build]:
    """Return each component with its output changed where a condition of its configuration holds during the call."""

    def surround(config: Any, weights: Any, forward: Forward) -> Forward:
        return lambda *x, **more: changed(lambda o: change(o) if condition(config) else o, forward(*x, **more))

    return around(surround, *but)


def others_than(*names: str) -> tuple[str, ...]:
    return tuple(name for name in TENSORS if name not in names)
