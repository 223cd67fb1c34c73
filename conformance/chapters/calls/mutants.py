"""Ways to get the laws of every call wrong: the reference, with something around each of its components.

A mistake that only some component invites (a table that grows, a cache with too small a key) stands in its chapter.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters import reference as adapter
from attnconf.adapters.contract import COMPONENTS, Build, Forward
from attnconf.conformance.engine.mutant import Mutant

TENSORS = tuple(name for name, known in COMPONENTS.items() if known.returns == "tensor")
GIVEN_LENGTHS = ("sinusoidal_2d", "alibi", "relative_bias")  # they have no input that lies in memory
POINTS = ("fourier", "random_fourier", "coordinate_mlp")  # they have one axis of points, and no tokens
# They have other requirements that are about a second call.
WITH_LAWS_OF_THEIR_OWN = ("sinusoidal", "learned", "random_fourier")
# They promise no dtype of half precision.
FREE_IN_HALF = ("attention", "multi_head_attention", "alibi", "random_fourier", "coordinate_mlp")
NOT_ASKED_IN_TRAINING = ("sinusoidal", "learned", "feed_forward")
BIT_FOR_BIT = ("decoder_layer", "decoder")  # they have requirements that float32 breaks in float64
# Queries and keys that are turned in place have a mistake of their own. Second calls have the same contents.
ALIKE = ("rotary", "rotary_attention")
# Their second calls have other lengths.
OF_OTHER_LENGTHS = ("alibi_attention", "relative_bias_attention")
# Ids that change are other ids, or none; models read their source once more for the memory.
OF_IDS = ("encoder_decoder", "transformer", "token_embedding", "token_attention")

Surround = Callable[[Any, Any, Forward], Forward]  # (config, weights, forward) -> another forward


def around(surround: Surround, *but: str) -> Mapping[Build, Build]:
    """Return each component that gives a tensor with something around its forward; without those named."""
    return {getattr(adapter, name): surrounded(name, surround) for name in TENSORS if name not in but}


def surrounded(name: str, surround: Surround) -> Build:
    def build(config, weights):
        return surround(config, weights, getattr(adapter, name)(config, weights))

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


# -- what comes out

first_only = Mutant(
    "CALL-first-only",
    story="only what comes first along the first axis comes out: the first sample",
    breaks={"CALL-SHAPE-1"},
    hint="keep the batch axis: x[0] and x[:1] are one sample of it",
    replace=leaving(lambda out: out[:1]),
)

axes_swapped = Mutant(
    "CALL-axes-swapped",
    story="the first two axes of the output have changed places: tokens first, then the batch",
    breaks={"CALL-SHAPE-1"},
    hint="batch comes first in what goes in, and so in what comes out",
    replace=leaving(lambda out: out.transpose(0, 1)),
)

squeezed = Mutant(
    "CALL-squeezed",
    story="squeeze() takes away every axis of size 1: that of one sample, of one head, of one token",
    breaks={"CALL-SHAPE-1"},
    hint="squeeze(dim) takes one axis, and so does an index; the others may have size 1 too",
    replace=leaving(torch.squeeze, *POINTS),
)

flattened = Mutant(
    "CALL-flattened",
    story="the output is left as a list of tokens, (N, D)",
    breaks={"CALL-SHAPE-1"},
    hint="give the output the axes of the input again: out.view(B, L, -1)",
    replace=leaving(lambda out: out.reshape(out.shape[:-1].numel(), out.shape[-1]), *POINTS),
)

single_out = Mutant(
    "CALL-single-out",
    story="half precision comes out as float32",
    breaks={"CALL-DTYPE-1"},
    hint="cast the output back to the dtype of what came in",
    replace=leaving(
        lambda out: out.float() if out.dtype in (torch.bfloat16, torch.float16) else out,
        *FREE_IN_HALF,
        "rms_norm",  # whose gain multiplies in float32, too: its own RMS-float32-out
    ),
    rounding=4e-2,  # that of bfloat16: what is not cast back may never have been rounded
)

float32_out = Mutant(
    "CALL-float32-out",
    story="the output is float32, whatever goes in",
    breaks={"CALL-DTYPE-1"},
    hint="cast the output back to the dtype of what came in, or compute in it",
    replace=leaving(Tensor.float, "alibi", "coordinate_mlp", *BIT_FOR_BIT),
)

float64_out = Mutant(
    "CALL-float64-out",
    story="the output is float64, whatever goes in, as NumPy's numbers are",
    breaks={"CALL-DTYPE-1"},
    hint="math.sqrt instead of np.sqrt, and .to(x.dtype) for what comes from NumPy",
    replace=leaving(Tensor.double, "alibi"),
)


def refusing_empty(config: Any, weights: Any, forward: Forward) -> Forward:
    def called(*x, **more):
        if any(isinstance(each, Tensor) and not each.numel() for each in x):
            raise ValueError("empty input")
        return forward(*x, **more)

    return called


empty_refused = Mutant(
    "CALL-empty-refused",
    story="an empty batch is refused",
    breaks={"CALL-EMPTY-1"},
    hint="return an empty tensor of the right shape",
    replace=around(refusing_empty, *GIVEN_LENGTHS),
    raises={"CALL-EMPTY-1"},
)

empty_is_flat = Mutant(
    "CALL-empty-is-flat",
    story="nothing gives (0, D), without the other axes",
    breaks={"CALL-EMPTY-1"},
    hint="keep all axes: the empty one has size 0, the others what they have elsewhere",
    replace=leaving(lambda out: out if out.numel() else out.new_zeros(0, out.shape[-1]), *GIVEN_LENGTHS, *POINTS),
)

one_for_none = Mutant(
    "CALL-one-for-none",
    story="nothing gives a row of zeros",
    breaks={"CALL-EMPTY-1"},
    hint="as many samples and tokens come out as go in, none too",
    replace=leaving(
        lambda out: out if out.numel() else out.new_zeros([max(size, 1) for size in out.shape]), *GIVEN_LENGTHS
    ),
)

# -- what is left behind


def writing(config: Any, weights: Any, forward: Forward) -> Forward:
    def called(*x, **more):
        out = forward(*x, **more)
        for each in x[:1]:
            if not each.requires_grad:
                each.add_(1)
        return out

    return called


in_place = Mutant(
    "CALL-in-place",
    story="the caller's tensor is changed in place, as by x += … or x -= …",
    breaks={"CALL-IMMUT-1"},
    hint="write x = x + y, not x += y, and no x.copy_ or out=x: the caller, and the residual, still need x",
    replace=around(writing, *GIVEN_LENGTHS, *OF_IDS, *ALIKE, "random_fourier"),
)


def decaying(config: Any, weights: Any, forward: Forward) -> Forward:
    def called(*x, **more):
        out = forward(*x, **more)
        for weight in weights.values():
            if not weight.requires_grad:
                weight.mul_(0.5)
        return out

    return called


weights_decay = Mutant(
    "CALL-weights-decay",
    story="weights are scaled in place by every call",
    breaks={"CALL-IMMUT-1", "CALL-REPEAT-1"},
    hint="no operation with a trailing underscore on weights, as for weight decay or max_norm: the optimizer does that",
    replace=around(
        decaying,
        *others_than(
            "relative_bias",
            "relative_bias_attention",
            "coordinate_mlp",
            "feed_forward",
            "encoder_layer",
            "encoder",
            "token_embedding",
        ),
    ),
)


def counting(config: Any, weights: Any, forward: Forward) -> Forward:
    calls = []

    def called(*x, **more):
        calls.append(1)
        return changed(lambda out: out / len(calls), forward(*x, **more))

    return called


fading = Mutant(
    "CALL-fading",
    story="a counter of calls scales the output: it is less each time",
    breaks={"CALL-REPEAT-1"},
    hint="what is counted in training, as steps of a schedule are, has no place in forward",
    replace=around(counting, *WITH_LAWS_OF_THEIR_OWN),
)


def keeping(config: Any, weights: Any, forward: Forward) -> Forward:
    kept: dict[Any, Any] = {}

    def called(*x, **more):
        sizes = tuple(each.shape if isinstance(each, Tensor) else each for each in x)
        return kept.setdefault(sizes, forward(*x, **more))

    return called


kept_by_shape = Mutant(
    "CALL-kept-by-shape",
    story="the output is kept by the shape of the input, and serves the next input of that shape",
    breaks={"CALL-REPEAT-1"},
    hint="a cache needs a key that changes with what it is made of: other inputs of the same shape have another output",
    replace=around(keeping, *GIVEN_LENGTHS, *WITH_LAWS_OF_THEIR_OWN, *ALIKE, *OF_OTHER_LENGTHS),
)


def first_for_ever(config: Any, weights: Any, forward: Forward) -> Forward:
    kept: list[Any] = []

    def called(*x, **more):
        kept.append(forward(*x, **more))
        return kept[0]

    return called


first_kept = Mutant(
    "CALL-first-kept",
    story="the first output is returned for ever",
    breaks={"CALL-REPEAT-1"},
    hint="compute in forward, not once when it is first called",
    replace=around(first_for_ever, *others_than(*GIVEN_LENGTHS, *OF_OTHER_LENGTHS)),
)

# -- what does not matter


def as_if_contiguous(x: Any) -> Any:
    if not isinstance(x, Tensor) or x.is_contiguous():
        return x
    return torch.as_strided(x, x.shape, torch.empty(x.shape, device="meta").stride())


strides_ignored = Mutant(
    "CALL-strides-ignored",
    story="memory is read as if it were contiguous",
    breaks={"CALL-LAYOUT-1"},
    hint="honour the strides, or call .contiguous() before a kernel that takes a pointer",
    replace=entering(as_if_contiguous, *GIVEN_LENGTHS),
    source="pytorch#181133",
)


def viewed(x: Tensor) -> Tensor:
    rows = (-1, x.shape[-1]) if x.ndim > 2 else (-1,)
    return x.view(rows).view(x.shape)


contiguous_wanted = Mutant(
    "CALL-viewed",
    story="view raises an error where the input is a transposed view",
    breaks={"CALL-LAYOUT-1"},
    hint="reshape takes what view refuses; a linear layer takes any leading axes as they are",
    replace=entering(viewed, *GIVEN_LENGTHS, "rotary", "rotary_attention"),
    raises={"CALL-LAYOUT-1"},
)


def first_feature_lost(out: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(out[..., :1]), out[..., 1:]], dim=-1)


fast_path = Mutant(
    "CALL-fast-path",
    story="without gradients a faster path is taken, which leaves the first feature at zero",
    breaks={"CALL-MODE-1"},
    hint="test the path of inference against that of training",
    replace=where(lambda config: not torch.is_grad_enabled(), first_feature_lost),
)

inference_only = Mutant(
    "CALL-inference-path",
    story="in inference mode alone a faster path is taken, which leaves the first feature at zero",
    breaks={"CALL-MODE-1"},
    hint="no_grad is not all that inference runs in: test inference_mode, too",
    replace=where(lambda config: torch.is_inference_mode_enabled(), first_feature_lost),
)

always_dropping = Mutant(
    "CALL-dropout-or-default",
    story="in training a dropout of 0 counts as none given, and what is kept is divided by 1 - 0.1",
    breaks={"CALL-MODE-1"},
    hint="ask whether dropout is None: `p or 0.1` takes 0 for nothing",
    replace=where(
        lambda config: config.training and config.dropout == 0.0,
        lambda out: out / 0.9,
        *(name for name in TENSORS if not COMPONENTS[name].configures("training")),
        *NOT_ASKED_IN_TRAINING,
    ),
)
