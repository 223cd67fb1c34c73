"""Ways to get the laws of every call wrong: what is left behind."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Forward
from attnconf.conformance.chapters.calls.mutants.shared import (
    ALIKE,
    GIVEN_LENGTHS,
    OF_IDS,
    OF_OTHER_LENGTHS,
    WITH_LAWS_OF_THEIR_OWN,
    around,
    changed,
    others_than,
)
from attnconf.conformance.engine.mutant import Mutant


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


def writing_float32(config: Any, weights: Any, forward: Forward) -> Forward:
    def called(*x, **more):
        out = forward(*x, **more)
        for each in x[:1]:
            if each.dtype == torch.float32 and not each.requires_grad:
                each.add_(1)
        return out

    return called


in_place_where_float32 = Mutant(
    "CALL-in-place-in-float32",
    story="what it converts to float32 is changed in place: where the caller's tensor is float32, that is the caller's",
    breaks={"CALL-IMMUT-1"},
    hint="x.float() and np.asarray(x, np.float32) copy only where the dtype is another: write x = x * 2, not x *= 2",
    replace=around(
        writing_float32,
        *GIVEN_LENGTHS,
        *(name for name in OF_IDS if name != "encoder_decoder"),
        *ALIKE,
        "random_fourier",
    ),
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
