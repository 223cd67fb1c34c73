"""Ways to get multi-head attention wrong: gradients."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, attend_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha


def detached(*names):
    return attend_with(lambda q, k, v, w, n: (q, k, v, {m: x.detach() if m in names else x for m, x in w.items()}))


query_weight_detached = Mutant(
    "MHA-query-weight-detached",
    story="q.weight never learns: its gradient is cut",
    breaks={"MHA-GRAD-1"},
    hint="register it as a parameter, and use it without .data or detach()",
    replace={mha.multi_head_attention: detached("q.weight", "q.bias")},
    silent_on=BARE,
)


def detached_with(names):
    return {mha.multi_head_attention: detached(*(f"{n}.{part}" for n in names for part in ("weight", "bias")))}


unregistered = Mutant(
    "MHA-unregistered",
    story="layers are kept in a plain list or dict: no parameters, which no optimizer, state_dict() or to() finds",
    breaks={"MHA-GRAD-1"},
    hint="put them into an nn.ModuleList",
    replace=detached_with("qkv"),
    variants=[detached_with(("q", "k", "v", "out"))],
    silent_on=BARE,
    source="discuss.pytorch.org, a list of layers in __init__",
)

out_weight_detached = Mutant(
    "MHA-out-weight-detached",
    story="out.weight never learns: the product is taken with out.weight.data",
    breaks={"MHA-GRAD-1"},
    hint="use the parameter itself, not its .data",
    replace={mha.multi_head_attention: detached("out.weight")},
    silent_on=BARE,
)


class TransposedBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        back = weight.T if weight.shape[0] == weight.shape[1] else weight
        return g @ back, g.flatten(0, -2).T @ x.flatten(0, -2)


def project_key_by_hand(key, weights):
    k = TransposedBackward.apply(key, weights["k.weight"])
    return k + weights["k.bias"] if "k.bias" in weights else k


backward_transposed = Mutant(
    "MHA-backward-transposed",
    story="a hand-written backward pass sends the key's gradient through the transposed weight",
    breaks={"MHA-ORACLE-1"},
    hint="y = x Wᵀ gives dx = dy W",
    replace={mha.project_key: project_key_by_hand},
    silent_on=BARE,
)


def project_without_grad(key, weights):
    with torch.no_grad():
        return mha.project_key(key, weights)


keys_without_grad = Mutant(
    "MHA-keys-without-grad",
    story="the keys are projected under no_grad",
    breaks={"ATT-GRAD-1"},
    hint="a cache of keys is for inference only",
    replace={mha.project_key: project_without_grad},
    silent_on=BARE,
)


def fold_value_bias(config, weights):
    if "v.bias" in weights:
        with torch.no_grad():
            weights["out.bias"] += weights["out.weight"] @ weights["v.bias"]
            weights["v.bias"].zero_()
    return adapter.multi_head_attention(config, weights)


value_bias_folded = Mutant(
    "MHA-value-bias-folded",
    story="the value bias is folded into the output bias, in the caller's tensors",
    breaks={"CALL-IMMUT-1"},
    hint="fold into copies",
    replace={adapter.multi_head_attention: fold_value_bias},
    silent_on=BARE,
)


def fold_scale(config, weights):
    with torch.no_grad():
        weights["q.weight"].mul_(2.0)
        weights["k.weight"].div_(2.0)
        if "q.bias" in weights:
            weights["q.bias"].mul_(2.0)
    return adapter.multi_head_attention(config, weights)


scale_folded = Mutant(
    "MHA-scale-folded",
    story="a scale is folded into q.weight and k.weight, in the caller's tensors",
    breaks={"CALL-IMMUT-1"},
    hint="fold into copies",
    replace={adapter.multi_head_attention: fold_scale},
    silent_on=BARE,
)
