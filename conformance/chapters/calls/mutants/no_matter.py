"""Ways to get the laws of every call wrong: what does not matter."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.calls.mutants.shared import (
    GIVEN_LENGTHS,
    NOT_ASKED_IN_TRAINING,
    TENSORS,
    entering,
    where,
)
from attnconf.conformance.engine.mutant import Mutant


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


def viewed(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return x
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
