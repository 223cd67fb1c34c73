"""Ways to get LayerNorm wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.layer_norm.mutants.shared import over
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm


def gain_in_place(x, weight, bias):
    if weight is not None and not weight.requires_grad:
        x = x * weight.clone()
        weight.mul_(0.5)
        return x if bias is None else x + bias
    return layer_norm.scale_and_shift(x, weight, bias)


gain_changed = Mutant(
    "LN-gain-changed",
    story="the gain decays with every call",
    breaks={"CALL-IMMUT-1", "CALL-REPEAT-1"},
    hint="weights are changed by the optimiser only",
    replace={layer_norm.scale_and_shift: gain_in_place},
)


def with_running_mean(config, weights):
    running = []

    def forward(x):
        axes = tuple(range(x.ndim - 1))
        if not running:
            running.append(torch.zeros_like(x.mean(dim=axes)))
            return adapter.layer_norm(config, weights)(x)
        return adapter.layer_norm(config, weights)(x - running[0])

    def remembering(x):
        out = forward(x)
        running[0] = 0.9 * running[0] + 0.1 * x.detach().mean(dim=tuple(range(x.ndim - 1)))
        return out

    return remembering


running_statistics = Mutant(
    "LN-running-statistics",
    story="a running mean of earlier calls is subtracted, as in batch normalization",
    breaks={"CALL-REPEAT-1"},
    hint="use the statistics of this token; keep nothing",
    replace={adapter.layer_norm: with_running_mean},
)


def kept_spread(config, weights):
    known = []

    def forward(x):
        layer_norm.refuse_misfits(x, config.shape)
        axes = layer_norm.last_axes(x, config.shape)
        wide = layer_norm.widened(x)
        if not known or known[0].shape != x.shape[: x.ndim - len(config.shape)] + (1,) * len(config.shape):
            known[:] = [layer_norm.spread(wide, axes, config.eps, adapter.divisor_of(config))]
        normalized = (wide - layer_norm.mean(wide, axes)) / known[0]
        return layer_norm.scale_and_shift(normalized, weights.get("weight"), weights.get("bias")).to(x.dtype)

    return forward


cached_statistics = Mutant(
    "LN-cached-statistics",
    story="the standard deviation of the first call is used in all later ones",
    breaks={"CALL-REPEAT-1"},
    hint="compute it anew in every call",
    replace={adapter.layer_norm: kept_spread},
)


def without_eps_unless_tracked(x, axes, eps, how):
    tracked = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return layer_norm.spread(x, axes, eps if tracked else 0.0, how)


fast_path_without_eps = Mutant(
    "LN-fast-path-without-eps",
    story="a fast path for inference leaves ε out",
    breaks={"CALL-MODE-1"},
    hint="both paths need the same ε",
    replace={layer_norm.spread: without_eps_unless_tracked},
)


axes_from_two_on = Mutant(
    "LN-axes-from-two-on",
    story="all axes but the first two are normalized together: right for (B, L, D) alone",
    breaks={"LN-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={layer_norm.last_axes: over(lambda x, shape: tuple(range(2, x.ndim)))},
    source="OpenNMT-tf#6",
)

axis_two = Mutant(
    "LN-axis-two",
    story="dim=2 instead of dim=-1: right for (B, L, D), a wrong axis or an error elsewhere",
    breaks={"LN-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={
        layer_norm.last_axes: over(
            lambda x, shape: (2,) if len(shape) == 1 and x.ndim > 2 else layer_norm.last_axes(x, shape)
        ),
    },
)


def three_axes_only(x, shape):
    if x.ndim < 3:
        raise ValueError(f"expected (batch, length, features), found {tuple(x.shape)}")
    layer_norm.refuse_misfits(x, shape)


batched_only = Mutant(
    "LN-batched-only",
    story="a token, or a sentence, without a batch around it is refused",
    breaks={"LN-LEAD-1"},
    raises={"LN-LEAD-1"},
    hint="the last axes are all that matters",
    replace={layer_norm.refuse_misfits: three_axes_only},
)


def fitted(x, shape, weight=None, bias=None, eps=1e-5, how=None):
    width = x.shape[-1]
    if len(shape) > 1 or weight is None or width == shape[0]:
        return layer_norm.layer_norm(x, shape, weight, bias, eps, how)
    pick = torch.arange(width) % shape[0]
    return layer_norm.layer_norm(x, (width,), weight[pick], None if bias is None else bias[pick], eps, how)


weights_cut_to_fit = Mutant(
    "LN-weights-cut-to-fit",
    story="gain and shift are cut, or repeated, until they are as wide as x",
    breaks={"LN-MISFIT-1"},
    hint="compare the last axes of x with the shape, and raise",
    replace={layer_norm.layer_norm: fitted},
)


def differing_unless_one(x, shape):
    if len(shape) > 1 or 1 not in (x.shape[-1], shape[0]):
        layer_norm.refuse_misfits(x, shape)


broadcast = Mutant(
    "LN-broadcast",
    story="nothing compares the widths: a single feature is broadcast over the gain",
    breaks={"LN-MISFIT-2"},
    hint="compare the last axes of x with the shape, and raise",
    replace={layer_norm.refuse_misfits: differing_unless_one},
)
