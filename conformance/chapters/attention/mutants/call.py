"""Ways to get scaled dot-product attention wrong: shapes, dtypes, memory and state."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.attention.mutants.shared import products
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention


def attend_returning_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    _, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    return weights, weights


weights_returned = Mutant(
    "ATT-weights-returned",
    story="the weights are returned instead of the output",
    breaks={"CALL-SHAPE-1"},
    hint="return weights @ value first",
    replace={attention.attend: attend_returning_weights},
    raises={"CALL-SHAPE-1"},  # where an output projection follows
)


def score_of_equal_lengths(q, k, scale):
    return attention.score(q, k, scale) + torch.zeros(q.shape[-2], q.shape[-2])


def score_viewed_alike(q, k, scale):
    return attention.score(q, k.view(q.shape), scale)


equal_lengths = Mutant(
    "ATT-equal-lengths",
    story="it works only where there are as many queries as keys",
    breaks={"CALL-SHAPE-1"},
    hint="take the number of keys from k, the number of queries from q",
    replace={attention.score: score_of_equal_lengths},
    variants=[{attention.score: score_viewed_alike}],
    raises={"CALL-SHAPE-1"},
)


def attend_in(dtype):
    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        if q.dtype not in (torch.float32, torch.float64):
            return attention.attend(q, k, v, mask, bias, scale, dropout)
        low_bias = None if bias is None else bias.to(dtype)
        low = attention.attend(q.to(dtype), k.to(dtype), v.to(dtype), mask, low_bias, scale, dropout)
        return low[0].to(q.dtype), low[1].to(q.dtype)

    return attend


half_inside = Mutant(
    "ATT-half-inside",
    story="the inputs are silently cast to half precision",
    breaks={"ATT-PREC-1"},
    hint="compute in the dtype of the inputs",
    replace={attention.attend: attend_in(torch.float16)},
    variants=[{attention.attend: attend_in(torch.bfloat16)}],
    rounding=3e-2,
    source="survives ONNX's Attention cases",
)

single_softmax = Mutant(
    "ATT-single-softmax",
    story="the softmax is always computed in float32",
    breaks={"ATT-PREC-2"},
    hint="upcast half precision, but leave float64 alone",
    replace={attention.weigh: lambda scores: attention.weigh(scores.float()).to(scores.dtype)},
)


def weigh_coarsely(scores):
    weights = attention.weigh(scores)
    return weights if scores.dtype in (torch.float32, torch.float64) else (weights * 64).round() / 64


coarse_in_half = Mutant(
    "ATT-coarse-in-half",
    story="in half precision the weights are rounded to 1/64",
    breaks={"ATT-HALF-1"},
    hint="keep the weights in float32, or at least in the inputs' dtype",
    replace={attention.weigh: weigh_coarsely},
)


def score_in_tf32(q, k, scale):
    if q.dtype == torch.float32:
        q, k = ((x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (q, k))  # ten bits of the mantissa stay
    return attention.score(q, k, scale)


def weigh_fast(scores):
    weights = attention.weigh(scores)
    if scores.dtype != torch.float32:
        return weights
    off = weights * (1 + 1e-5 * torch.cos(40 * scores.detach().masked_fill(torch.isneginf(scores), 0.0)))
    return off / off.sum(-1, keepdim=True).masked_fill(~weights.any(-1, keepdim=True), 1.0)


fast_exponential = Mutant(
    "ATT-fast-exponential",
    story="in float32 the exponential is a fast one, right to one part in 100,000",
    breaks={"ATT-FLOAT-1"},
    hint="float32 holds seven digits: torch.exp gives them",
    replace={attention.weigh: weigh_fast},
)

tf32 = Mutant(
    "ATT-tf32",
    story="in float32 the scores are computed in TF32, with ten bits",
    breaks={"CALL-FLOAT-1"},
    hint='torch.set_float32_matmul_precision("highest") where float32 is wanted',
    replace={attention.score: score_in_tf32},
)

product_before_scale = Mutant(
    "ATT-product-before-scale",
    story="q·k is computed before it is scaled, and overflows in float16",
    breaks={"ATT-RANGE-1"},
    hint="scale q first, or accumulate the product in float32",
    replace={attention.score: lambda q, k, scale: products(q, k) * scale},
)


def run_attention_scaling_in_place(config, query, key, value, mask, bias, need_weights):
    scale = query.shape[-1] ** -0.5 if config.scale is None else config.scale
    with torch.no_grad():
        query.mul_(scale)
    return adapter.run_attention(replace(config, scale=1.0), query, key, value, mask, bias, need_weights)


query_overwritten = Mutant(
    "ATT-query-overwritten",
    story="the caller's query is scaled in place",
    breaks={"CALL-IMMUT-1"},
    hint="write q = q * scale, not q *= scale",
    replace={adapter.run_attention: run_attention_scaling_in_place},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
    source="survives ONNX's Attention cases",
)


def attention_with_cache(config, weights):
    forward = adapter.attention(config, weights)
    seen = {}

    def cached(query, key, value, **options):
        k = seen.setdefault(key.shape, key)
        return forward(query, k, value, **options)

    return cached


stale_cache = Mutant(
    "ATT-stale-cache",
    story="keys are cached by their shape, and later calls get the first ones",
    breaks={"CALL-REPEAT-1"},
    hint="a cache needs a key that changes with its contents",
    replace={adapter.attention: attention_with_cache},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)


def mask_kept(at_first):
    """Return the components, which keep a mask in their instance: the first one, or the last one."""

    def keeping(build):
        def component(config, weights):
            forward, kept = build(config, weights), {}

            def called(*inputs, **options):
                for name in ("key_mask", "attn_mask", "attn_bias"):
                    given = options.get(name)
                    if given is not None:
                        options[name] = (
                            kept.setdefault(name, given) if at_first else kept.update({name: given}) or given
                        )
                    elif (
                        not at_first
                        and name in kept
                        and kept[name].shape[-1] == inputs[min(1, len(inputs) - 1)].shape[-2]
                    ):
                        options[name] = kept[name]
                return forward(*inputs, **options)

            return called

        return component

    return {build: keeping(build) for build in (adapter.attention, adapter.multi_head_attention)}


first_mask_kept = Mutant(
    "ATT-first-mask-kept",
    story="the first mask is kept, and serves all calls with a mask",
    breaks={"CALL-REPEAT-1"},
    hint="a mask belongs to its call: keep none in the module, but one that depends on sizes alone",
    replace=mask_kept(at_first=True),
)

last_mask_kept = Mutant(
    "ATT-last-mask-kept",
    story="the mask of an earlier call is used again where none is given",
    breaks={"CALL-REPEAT-1"},
    hint="`if mask is None: mask = self.mask` takes the last one: without a mask nothing is hidden",
    replace=mask_kept(at_first=False),
)


def default_scale_in_training_only(q):
    return q.shape[-1] ** -0.5 if torch.is_grad_enabled() else 1.0


unscaled_without_grad = Mutant(
    "ATT-unscaled-without-grad",
    story="a second path, taken without gradients, forgets the scale",
    breaks={"CALL-MODE-1"},
    hint="test the inference path against the training path",
    replace={attention.default_scale: default_scale_in_training_only},
)
