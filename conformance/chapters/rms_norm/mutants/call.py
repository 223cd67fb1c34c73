"""Ways to get RMSNorm wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import layer_norm, rms_norm


def left_in_float32(x, weight, eps=1e-6, place="inside"):
    rms_norm.refuse_misfits(x, weight)
    return rms_norm.scale(rms_norm.normalize(rms_norm.widened(x), eps, place), weight)


float32_out = Mutant(
    "RMS-float32-out",
    story="the output of a half precision input stays float32",
    breaks={"CALL-DTYPE-2"},
    hint="cast back at the end: out.to(x.dtype)",
    replace={rms_norm.rms_norm: left_in_float32},
    source="transformers#23535",
)


def kept_spread(config, weights):
    known = []

    def forward(x):
        rms_norm.refuse_misfits(x, weights["weight"])
        wide = layer_norm.widened(x)
        if not known or known[0].shape != (*x.shape[:-1], 1):
            known[:] = [rms_norm.spread(wide, config.eps, config.rms_eps)]
        return rms_norm.scale(wide / known[0], weights["weight"]).to(x.dtype)

    return forward


cached_statistics = Mutant(
    "RMS-cached-statistics",
    story="the root mean square of the first call is used in all later ones",
    breaks={"CALL-REPEAT-1"},
    hint="compute it anew in every call",
    replace={adapter.rms_norm: kept_spread},
)


def without_eps_unless_tracked(x, eps, place):
    tracked = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    return rms_norm.spread(x, eps if tracked else 0.0, place)


fast_path_without_eps = Mutant(
    "RMS-fast-path-without-eps",
    story="a fast path for inference leaves ε out",
    breaks={"CALL-MODE-1"},
    hint="both paths need the same ε",
    replace={rms_norm.spread: without_eps_unless_tracked},
)


all_axes_but_two = Mutant(
    "RMS-all-axes-but-two",
    story="all axes but the first two are normalized together: right for (B, L, D) alone",
    breaks={"RMS-LEAD-1"},
    hint="count from the end: dim=-1",
    replace={rms_norm.mean_square: lambda x: x.square().mean(dim=tuple(range(2, x.ndim)), keepdim=True)},
    source="OpenNMT-tf#6, of layer normalization",
)


def three_axes_only(x, weight):
    if x.ndim < 3:
        raise ValueError(f"expected (batch, length, features), found {tuple(x.shape)}")
    rms_norm.refuse_misfits(x, weight)


batched_only = Mutant(
    "RMS-batched-only",
    story="a token, or a sentence, without a batch around it is refused",
    breaks={"RMS-LEAD-1"},
    raises={"RMS-LEAD-1"},
    hint="the last axis is all that matters",
    replace={rms_norm.refuse_misfits: three_axes_only},
)


def fitted(x, weight, eps=1e-6, place="inside"):
    pick = torch.arange(x.shape[-1]) % len(weight)
    return rms_norm.rms_norm(x, weight[pick] if len(pick) != len(weight) else weight, eps, place)


weight_cut_to_fit = Mutant(
    "RMS-weight-cut-to-fit",
    story="the weight is cut, or repeated, until it is as wide as x",
    breaks={"RMS-MISFIT-1"},
    hint="compare the last axis of x with the weight, and raise",
    replace={rms_norm.rms_norm: fitted},
)


def differing_unless_one(x, weight):
    if 1 not in (x.shape[-1], len(weight)):
        rms_norm.refuse_misfits(x, weight)


broadcast = Mutant(
    "RMS-broadcast",
    story="nothing compares the widths: a single feature is broadcast over the weight",
    breaks={"RMS-MISFIT-2"},
    hint="compare the last axis of x with the weight, and raise",
    replace={rms_norm.refuse_misfits: differing_unless_one},
)
