"""Ways to get multi-head attention wrong: biases."""

from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, attend_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha


def without(*names):
    return attend_with(lambda q, k, v, w, n: (q, k, v, {name: x for name, x in w.items() if name not in names}))


no_query_bias = Mutant(
    "MHA-no-query-bias",
    story="the bias of the query projection is dropped",
    breaks={"MHA-DEAD-1"},
    hint="add q.bias after q.weight",
    replace={mha.multi_head_attention: without("q.bias")},
    silent_on=BARE,
)

no_value_bias = Mutant(
    "MHA-no-value-bias",
    story="the bias of the value projection is dropped",
    breaks={"MHA-DEAD-1"},
    hint="add v.bias after v.weight",
    replace={mha.multi_head_attention: without("v.bias")},
    silent_on=BARE,
)

no_output_bias = Mutant(
    "MHA-no-output-bias",
    story="the bias of the output projection is dropped",
    breaks={"MHA-DEAD-1"},
    hint="add out.bias after out.weight",
    replace={mha.multi_head_attention: without("out.bias")},
    silent_on=BARE,
)


def value_with_bias_twice(value, weights):
    v = mha.project_value(value, weights)
    return v + weights["v.bias"] if "v.bias" in weights else v


value_bias_twice = Mutant(
    "MHA-value-bias-twice",
    story="the bias of the value projection is added twice",
    breaks={"MHA-BIAS-1"},
    hint="nn.Linear adds its bias already",
    replace={mha.project_value: value_with_bias_twice},
    silent_on=BARE,
)


def query_bias_after_scale(query, key, value, weights, num_heads):
    D = weights["q.weight"].shape[0] // num_heads
    return query, key, value, {n: w * D**0.5 if n == "q.bias" else w for n, w in weights.items()}


query_bias_unscaled = Mutant(
    "MHA-query-bias-unscaled",
    story="the query is scaled before its bias is added, so the bias is not scaled",
    breaks={"MHA-BIAS-1"},
    hint="scale (W x + b), not W x alone; with the scale folded into q.weight, fold it into q.bias too",
    replace={mha.multi_head_attention: attend_with(query_bias_after_scale)},
    silent_on=BARE,
)

output_bias_per_head = Mutant(
    "MHA-output-bias-per-head",
    story="every head is projected by itself, and the output bias is added each time",
    breaks={"MHA-BIAS-2"},
    hint="add out.bias once, after summing the heads",
    replace={
        mha.multi_head_attention: attend_with(
            lambda q, k, v, w, n: (q, k, v, {m: x * n if m == "out.bias" else x for m, x in w.items()})
        )
    },
    silent_on=BARE,
)


def project_requiring_bias(context, weights):
    return mha.project(context, weights["out.weight"], weights["out.bias"])


bias_required = Mutant(
    "MHA-bias-required",
    story="bias=False crashes: the output projection expects a bias all the same",
    breaks={"MHA-BIAS-3"},
    hint="pass bias=config.bias to every nn.Linear",
    replace={mha.project_out: project_requiring_bias},
    raises={"MHA-BIAS-3"},
    silent_on=BARE,
)


def project_with_leftover_bias(context, weights):
    out = mha.project_out(context, weights)
    return out if "out.bias" in weights else out + 0.1


bias_left_over = Mutant(
    "MHA-bias-left-over",
    story="with bias=False the output projection keeps the bias it was initialised with",
    breaks={"MHA-BIAS-3"},
    hint="pass bias=config.bias to every nn.Linear, the last one too",
    replace={mha.project_out: project_with_leftover_bias},
    silent_on=BARE,
)


def value_with_key_bias(value, weights):
    v = mha.project_value(value, weights)
    return v + weights["k.bias"] if "k.bias" in weights else v


key_bias_on_values = Mutant(
    "MHA-key-bias-on-values",
    story="the key's bias is added to the values as well",
    breaks={"MHA-KBIAS-1"},
    hint="a fused projection needs a fused bias: cat([b_q, b_k, b_v])",
    replace={mha.project_value: value_with_key_bias},
    silent_on=BARE,
)
