"""Ways to get the laws of every call wrong: the reference, with something around each of its components."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from attnconf.adapters import reference as adapter
from attnconf.adapters.contract import COMPONENTS, Build
from attnconf.conformance.engine.mutant import Mutant

# They have other requirements that are about a second call.
WITH_LAWS_OF_THEIR_OWN = ("sinusoidal", "learned", "random_fourier")
# They promise no dtype of half precision.
FREE_IN_HALF = ("attention", "multi_head_attention", "alibi", "random_fourier", "coordinate_mlp")
TENSORS = tuple(name for name, known in COMPONENTS.items() if known.returns == "tensor")


def around(change: Callable[..., Any], *but: str) -> Mapping[Build, Build]:
    """Return each component that gives a tensor with its output changed: change(out); without those named."""
    return {getattr(adapter, name): changed(name, change) for name in TENSORS if name not in but}


def changed(name: str, change: Callable[..., Any]) -> Build:
    """Return a component with what comes out changed; the weights of attention stay."""

    def build(config, weights):
        forward = getattr(adapter, name)(config, weights)

        def called(*given, **named):
            out = forward(*given, **named)
            return (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)

        return called

    return build


def slowly_fading(name: str) -> Build:
    """Return a component whose output is divided by how often it has been called."""

    def build(config, weights):
        forward, calls = getattr(adapter, name)(config, weights), []

        def called(*given, **named):
            calls.append(1)
            out = forward(*given, **named)
            return (out[0] / len(calls), *out[1:]) if isinstance(out, tuple) else out / len(calls)

        return called

    return build


# -- what comes out

first_only = Mutant(
    "CALL-first-only",
    story="only what comes first along the first axis comes out: the first sample",
    breaks={"CALL-SHAPE-1"},
    hint="keep the batch axis: x[0] and x[:1] are one sample of it",
    replace=around(lambda out: out[:1]),
)

axes_swapped = Mutant(
    "CALL-axes-swapped",
    story="the first two axes of the output have changed places: tokens first, then the batch",
    breaks={"CALL-SHAPE-1"},
    hint="batch comes first in what goes in, and so in what comes out",
    replace=around(lambda out: out.transpose(0, 1)),
)

single_out = Mutant(
    "CALL-single-out",
    story="half precision comes out as float32",
    breaks={"CALL-DTYPE-1"},
    hint="cast the output back to the dtype of what came in",
    replace=around(lambda out: out.float() if out.dtype in (torch.bfloat16, torch.float16) else out, *FREE_IN_HALF),
)

# -- what is left behind

fading = Mutant(
    "CALL-fading",
    story="a counter of calls scales the output: it is less each time",
    breaks={"CALL-REPEAT-1"},
    hint="what is counted in training, as steps of a schedule are, has no place in forward",
    replace={getattr(adapter, name): slowly_fading(name) for name in TENSORS if name not in WITH_LAWS_OF_THEIR_OWN},
)
