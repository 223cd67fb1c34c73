"""Ways to get multi-head attention wrong: the reference with one function replaced."""

from dataclasses import replace

import torch
from torch.nn.functional import normalize, pad

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous
from attnconf.reference import multi_head_attention as mha
from attnconf.reference.attention import attend
from attnconf.reference.masks import blank, causal

BARE = {"attention": "it has no projections and no heads to split"}


def renamed(weights, **sources):
    """Return the weights with projections taken from others: renamed(weights, k="q") lets k be q."""
    return {
        name: weights[f"{sources.get(name.split('.')[0], name.split('.')[0])}.{name.split('.')[1]}"] for name in weights
    }


def attend_with(change):
    """Return a multi_head_attention that first changes (query, key, value, weights, num_heads)."""

    def multi_head_attention(query, key, value, weights, num_heads, mask=None, bias=None, dropout=0.0):
        q, k, v, w = change(query, key, value, weights, num_heads)
        return mha.multi_head_attention(q, k, v, w, num_heads, mask, bias, dropout)

    return multi_head_attention


# -- which weight meets which input


def projected_with(**sources):
    return {mha.multi_head_attention: attend_with(lambda q, k, v, w, n: (q, k, v, renamed(w, **sources)))}


one_projection = Mutant(
    "MHA-one-projection",
    story="one projection serves query, key and value, or two of them",
    breaks={"MHA-QUERY-1", "MHA-KEY-1", "MHA-VALUE-1"},
    hint="build three nn.Linear layers, one each for query, key and value",
    replace=projected_with(k="q", v="q"),
    variants=[projected_with(v="k"), projected_with(k="q")],
    silent_on=BARE,
    source="system 3c; annotated-transformer#17",
)

values_not_projected = Mutant(
    "MHA-values-not-projected",
    story="the values are projected, but the unprojected ones are used",
    breaks={"MHA-VALUE-1"},
    hint="use what v.weight returned; nothing complains about an unused result",
    replace={mha.project_value: lambda value, weights: value},
    silent_on=BARE,
    source="system 3c",
)

keys_and_values_crossed = Mutant(
    "MHA-k-and-v-weights-swapped",
    story="the key's weights project the values and the value's the keys",
    breaks={"MHA-KEY-1", "MHA-VALUE-1"},
    hint="check the order of chunk(3): query, key, value",
    replace={mha.multi_head_attention: attend_with(lambda q, k, v, w, n: (q, k, v, renamed(w, k="v", v="k")))},
    silent_on=BARE,
    source="NeetCode#5169",
)

queries_and_keys_crossed = Mutant(
    "MHA-q-and-k-weights-swapped",
    story="the query's weights project the keys and the key's the queries",
    breaks={"MHA-QUERY-1", "MHA-KEY-1"},
    hint="check the order of chunk(3): query, key, value",
    replace={mha.multi_head_attention: attend_with(lambda q, k, v, w, n: (q, k, v, renamed(w, q="k", k="q")))},
    silent_on=BARE,
    source="NeetCode#5169",
)


def fused_per_head(query, key, value, weights, num_heads):
    rows = {
        part: torch.cat([weights[f"{n}.{part}"] for n in "qkv"]).unflatten(0, (num_heads, 3, -1))
        for part in ("weight", "bias")
        if f"q.{part}" in weights
    }
    mixed = {f"{n}.{part}": rows[part][:, i].flatten(0, 1) for i, n in enumerate("qkv") for part in rows}
    return query, key, value, {**weights, **mixed}


fused_order = Mutant(
    "MHA-fused-order",
    story="the rows of the fused projection are read as (head, 3, D) although they are stored as (3, head, D)",
    breaks={"ATT-HEAD-1", "MHA-KEY-1", "MHA-QUERY-1", "MHA-VALUE-1"},
    hint="chunk into query, key and value first, then split each into heads",
    replace={mha.multi_head_attention: attend_with(fused_per_head)},
    silent_on=BARE,
    source="ViT and GPT-NeoX checkpoints differ in this",
)

only_the_query_is_used = Mutant(
    "MHA-memory-ignored",
    story="cross-attention takes its keys and values from the query's sequence",
    breaks={
        "ATT-DROP-2",
        "CALL-EMPTY-1",
        "ATT-ERROR-1",
        "ATT-LINEAR-1",
        "ATT-QUERY-1",
        "ATT-WEIGHTS-2",
        "MHA-KEY-1",
        "MHA-QUERY-1",
        "MHA-VALUE-1",
    },
    hint="project key and value from the arguments key and value",
    replace={
        mha.multi_head_attention: attend_with(
            lambda q, k, v, w, n: (q, q, q, w) if q.shape[-1] == k.shape[-1] == v.shape[-1] else (q, k, v, w)
        )
    },
    raises={"CALL-EMPTY-1"},
    silent_on=BARE,
)

values_from_keys = Mutant(
    "MHA-values-from-key",
    story="the values are projected from the key's input",
    breaks={"ATT-DROP-2", "ATT-LINEAR-1", "ATT-ROWS-1", "MHA-KEY-1", "MHA-VALUE-1"},
    hint="project the argument value with v.weight",
    replace={
        mha.multi_head_attention: attend_with(
            lambda q, k, v, w, n: (q, k, k, w) if k.shape == v.shape else (q, k, v, w)
        )
    },
    silent_on=BARE,
)


def attend_exchanged(query, key, value, weights, num_heads, mask=None, bias=None, dropout=0.0):
    projected = mha.project_query(query, weights), mha.project_key(key, weights), mha.project_value(value, weights)
    q, k, v = (mha.split_heads(x, num_heads) for x in projected)
    context, attention = attend(q, v, k, mask, bias, dropout=dropout)
    return mha.project_out(mha.merge_heads(context), weights), attention


keys_and_values_exchanged = Mutant(
    "MHA-keys-and-values-exchanged",
    story="after the projections key and value change roles: softmax(q·v) multiplies the keys",
    breaks={"ATT-DROP-2", "ATT-LINEAR-1", "ATT-ROWS-1", "MHA-DEAD-1", "MHA-HEADS-1"},
    hint="scores from query and key, context from weights and value",
    replace={mha.multi_head_attention: attend_exchanged},
    silent_on=BARE,
)


def project_transposed(x, weight, bias):
    return mha.project(x, weight.T if weight.shape[0] == weight.shape[1] else weight, bias)


transposed = Mutant(
    "MHA-transposed",
    story="the weights multiply from the wrong side: x W instead of x Wᵀ",
    breaks={"MHA-QUERY-1", "MHA-KEY-1", "MHA-VALUE-1", "MHA-OUT-1"},
    hint="nn.Linear stores (out, in): x @ weight.T",
    replace={mha.project: project_transposed},
    silent_on=BARE,
    source="CS336 changelog 0.1.4",
)


def query_transposed(query, weights):
    w = weights["q.weight"]
    return mha.project(query, w.T if w.shape[0] == w.shape[1] else w, weights.get("q.bias"))


transposed_query = Mutant(
    "MHA-query-transposed",
    story="q.weight multiplies from the wrong side",
    breaks={"MHA-QUERY-1"},
    hint="nn.Linear stores (out, in): x @ weight.T",
    replace={mha.project_query: query_transposed},
    silent_on=BARE,
)


def key_transposed(key, weights):
    w = weights["k.weight"]
    return mha.project(key, w.T if w.shape[0] == w.shape[1] else w, weights.get("k.bias"))


transposed_key = Mutant(
    "MHA-key-transposed",
    story="k.weight multiplies from the wrong side",
    breaks={"MHA-KEY-1"},
    hint="nn.Linear stores (out, in): x @ weight.T",
    replace={mha.project_key: key_transposed},
    silent_on=BARE,
)


def own_features(query, key, value, weights, num_heads):
    def block(w):
        if w.shape[0] != w.shape[1]:
            return w
        D = w.shape[0] // num_heads
        return w * torch.block_diag(*[torch.ones(D, D)] * num_heads).to(w)

    return query, key, value, {n: block(w) if n[1:] == ".weight" else w for n, w in weights.items()}


def own_features_alike(query, key, value, weights, num_heads):
    def block(w):
        D = w.shape[0] // num_heads
        if w.ndim == 1:
            return w[:D].repeat(num_heads)
        return torch.block_diag(*[w[:D, :D]] * num_heads) if w.shape[0] == w.shape[1] else w

    return query, key, value, {n: w if n[0] == "o" else block(w) for n, w in weights.items()}


split_before_projection = Mutant(
    "MHA-split-before-projection",
    story="the embeddings are split into heads first, so that every head sees its own features only",
    breaks={"MHA-QUERY-1", "MHA-KEY-1", "MHA-VALUE-1"},
    hint="project the whole embedding, then split the result",
    replace={mha.multi_head_attention: attend_with(own_features)},
    variants=[{mha.multi_head_attention: attend_with(own_features_alike)}],
    silent_on=BARE,
    source="NeetCode#5130",
)

no_output_projection = Mutant(
    "MHA-no-output-projection",
    story="the output projection is missing",
    breaks={"MHA-OUT-1"},
    hint="multiply the merged heads by out.weight and add out.bias",
    replace={mha.project_out: lambda context, weights: context},
    silent_on=BARE,
    source="BPfold#3",
)


relu_on_output = Mutant(
    "MHA-relu-on-output",
    story="a ReLU follows the output projection",
    breaks={"ATT-LINEAR-1", "MHA-BIAS-2"},
    hint="the output projection is the last step: no activation behind it",
    replace={mha.project_out: lambda context, weights: mha.project_out(context, weights).relu()},
    silent_on=BARE,
)


def project_out_normalised(context, weights):
    return mha.project(context, normalize(weights["out.weight"], dim=1), weights.get("out.bias"))


rows_of_out_normalised = Mutant(
    "MHA-out-rows-normalised",
    story="the rows of out.weight are divided by their lengths",
    breaks={"MHA-SINGLE-1"},
    hint="use the weights as they are",
    replace={mha.project_out: project_out_normalised},
    silent_on=BARE,
)

# -- biases


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

# -- heads


def split_by_view(x, num_heads):
    B, T, W = x.shape
    return x.reshape(B, num_heads, T, W // num_heads)


split_without_transpose = Mutant(
    "MHA-split-without-transpose",
    story="the heads are split by view(B, H, T, D), without a transposition: tokens are mixed across heads",
    breaks={"ATT-HEAD-1", "ATT-KEYS-1", "ATT-QUERY-1", "MHA-HEADS-1"},
    hint="view(B, T, H, D).transpose(1, 2)",
    replace={mha.split_heads: split_by_view},
    variants=[{mha.split_heads: split_by_view, mha.merge_heads: lambda x: x.reshape(len(x), x.shape[2], -1)}],
    silent_on=BARE,
    source="FuxiCTR#30",
)


def split_interleaved(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def merge_interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


heads_last = Mutant(
    "MHA-heads-last",
    story="feature r belongs to head r mod H instead of head r // D, in the split and in the merge",
    breaks={"ATT-HEAD-1", "MHA-HEADS-1"},
    hint="view(B, T, H, D): the heads are the outer of the two axes",
    replace={mha.split_heads: split_interleaved, mha.merge_heads: merge_interleaved},
    silent_on=BARE,
)

heads_last_in_merge = Mutant(
    "MHA-heads-last-in-merge",
    story="the heads are merged as (D, H) although they were split as (H, D)",
    breaks={"ATT-HEAD-1", "MHA-MERGE-1"},
    hint="transpose(1, 2) back, then flatten the last two axes",
    replace={mha.merge_heads: merge_interleaved},
    silent_on=BARE,
)

merge_without_transpose = Mutant(
    "MHA-merge-without-transpose",
    story="the heads are merged by reshape, without transposing back: tokens are scrambled",
    breaks={"ATT-HEAD-1", "ATT-QUERY-1", "MHA-MERGE-1"},
    hint="transpose(1, 2) before reshape(B, T, H·D)",
    replace={mha.merge_heads: lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])},
    silent_on=BARE,
    source="system 2b; jsbaan#6; ajhalthor#4; QAnet#2",
)

heads_reversed = Mutant(
    "MHA-heads-reversed",
    story="the heads are concatenated in reverse order",
    breaks={"ATT-HEAD-1", "MHA-MERGE-1"},
    hint="concatenate head 0 first",
    replace={mha.merge_heads: lambda x: mha.merge_heads(x.flip(1))},
    silent_on=BARE,
)

heads_summed = Mutant(
    "MHA-heads-summed",
    story="the heads are averaged instead of concatenated",
    breaks={"ATT-HEAD-1"},
    hint="concatenate the heads; out.weight mixes them",
    replace={mha.merge_heads: lambda x: mha.merge_heads(x.mean(1, keepdim=True).expand_as(x))},
    silent_on=BARE,
    source="llm-first-principles, stage 5",
)


def second_head_copied(query, key, value, weights, num_heads):
    D = weights["q.weight"].shape[0] // num_heads

    def copied(w):
        return torch.cat([w[:D], w[:D], w[2 * D :]]) if num_heads > 1 else w

    return query, key, value, {n: w if n[0] == "o" else copied(w) for n, w in weights.items()}


second_head_reuses_first = Mutant(
    "MHA-second-head-reuses-first",
    story="the second head uses the first head's projections",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-MERGE-1"},
    hint="give every head rows of its own: [h*D:(h+1)*D]",
    replace={mha.multi_head_attention: attend_with(second_head_copied)},
    silent_on=BARE,
)


def from_first_head(*names):
    """Return a multi_head_attention in which all heads have the first head's projections of some kinds."""

    def shared(query, key, value, weights, num_heads):
        D = weights["q.weight"].shape[0] // num_heads

        def first(w):
            return w[:D].repeat(num_heads, *[1] * (w.ndim - 1))

        return query, key, value, {n: first(w) if n.split(".")[0] in names else w for n, w in weights.items()}

    return {mha.multi_head_attention: attend_with(shared)}


heads_tied = Mutant(
    "MHA-heads-tied",
    story="all heads are one: [head] * num_heads repeats one module, with one set of weights",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-MERGE-1"},
    hint="build a module for each head: [Head(…) for _ in range(num_heads)]",
    replace=from_first_head("q", "k", "v"),
    silent_on=BARE,
)

first_head_shared = Mutant(
    "MHA-first-head-shared",
    story="all heads use the keys, or the values, of the first head",
    breaks={"ATT-HEAD-1", "MHA-DEAD-1", "MHA-HEADS-1"},
    hint="take the head's own projection: keys[h], not keys[0]",
    replace=from_first_head("k"),
    variants=[from_first_head("v"), from_first_head("k", "v"), from_first_head("q")],
    silent_on=BARE,
)


def run_floored(config, weights, query, key, value, mask, bias, need_weights):
    if config.embed_dim % config.num_heads:
        W = config.num_heads * config.head_dim
        weights = {n: w[:, :W] if n == "out.weight" else w if n == "out.bias" else w[:W] for n, w in weights.items()}
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


width_floored = Mutant(
    "MHA-width-floored",
    story="a width that the heads do not divide is floored, and features are dropped silently",
    breaks={"MHA-DIVIDE-1"},
    hint="raise an error if embed_dim % num_heads",
    replace={adapter.run_multi_head: run_floored},
    silent_on=BARE,
    source="iacobo#16",
)


def project_out_unless_one_head(config, weights, query, key, value, mask, bias, need_weights):
    if config.num_heads == 1 and config.out_dim == config.head_dim:
        weights = {**weights, "out.weight": torch.eye(config.out_dim).to(query)}
        weights.pop("out.bias", None)
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


one_head_not_projected = Mutant(
    "MHA-one-head-not-projected",
    story="with a single head the output projection is left out",
    breaks={"MHA-ONE-1"},
    hint="one head needs its output projection like any other number",
    replace={adapter.run_multi_head: project_out_unless_one_head},
    silent_on=BARE,
    source="vit-pytorch (deliberate there)",
)

heads_past_eighth = Mutant(
    "MHA-heads-past-eighth",
    story="heads past the eighth stay zero",
    breaks={"MHA-MANY-1"},
    hint="loop over all heads",
    replace={mha.merge_heads: lambda x: mha.merge_heads(pad(x[:, :8], (0, 0, 0, 0, 0, max(0, x.shape[1] - 8))))},
    silent_on=BARE,
)

# -- sizes


def cut_to(x, width):
    return pad(x, (0, max(0, width - x.shape[-1])))[..., :width]


def project_common(x, weight, bias):
    n = min(x.shape[-1], weight.shape[-1])
    return mha.project(x[..., :n], weight[:, :n], bias)


surplus_ignored = Mutant(
    "MHA-surplus-ignored",
    story="features without weights, and weights without features, are ignored",
    breaks={"ATT-ERROR-1"},
    hint="raise an error where x.shape[-1] != weight.shape[-1]",
    replace={mha.project: project_common},
    silent_on=BARE,
)


def project_out_common(context, weights):
    return mha.project(context, weights["out.weight"][:, : context.shape[-1]], weights.get("out.bias"))


out_columns_ignored = Mutant(
    "MHA-out-columns-ignored",
    story="surplus columns of out.weight are ignored",
    breaks={"MHA-ERROR-1"},
    hint="raise an error where out.weight is not H·D wide",
    replace={mha.project_out: project_out_common},
    silent_on=BARE,
)


def run_with_widths_cut(config, weights, query, key, value, mask, bias, need_weights):
    E = config.embed_dim
    if (config.key_dim, config.value_dim) != (E, E):
        key, value = cut_to(key, E), cut_to(value, E)
        weights = {n: cut_to(w, E) if n in ("k.weight", "v.weight") else w for n, w in weights.items()}
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


widths_cut = Mutant(
    "MHA-widths-cut",
    story="keys and values are cut to the width of the query",
    breaks={"MHA-WIDTH-1"},
    hint="build the projections with key_dim and value_dim as input widths",
    replace={adapter.run_multi_head: run_with_widths_cut},
    silent_on=BARE,
)


def fused_projection(query, key, value, weights, num_heads):
    torch.cat([query, key.mean(1, keepdim=True), value.mean(1, keepdim=True)], dim=1)
    return query, key, value, weights


equal_widths_assumed = Mutant(
    "MHA-equal-widths-assumed",
    story="one fused projection is used, which needs keys and values as wide as queries",
    breaks={"MHA-WIDTH-1"},
    hint="use three projections where the widths differ",
    replace={mha.multi_head_attention: attend_with(fused_projection)},
    raises={"MHA-WIDTH-1"},
    silent_on=BARE,
)


def scale_from_embedding(query, key, value, weights, num_heads):
    width, embed = weights["q.weight"].shape
    factor = (width // num_heads) ** 0.5 * (embed // num_heads) ** -0.5
    return query, key, value, {n: w * factor if n[0] == "q" else w for n, w in weights.items()}


head_width_from_embedding = Mutant(
    "MHA-head-width-from-embedding",
    story="the scale takes the width of a head as embed_dim // num_heads, whatever it is",
    breaks={"MHA-WIDTH-2"},
    hint="take head_dim from the projected queries",
    replace={mha.multi_head_attention: attend_with(scale_from_embedding)},
    silent_on=BARE,
    source="transformers configs with head_dim of their own",
)

# -- paths: self-attention, modes, masks


def forward_with(change):
    """Return an adapter's multi_head_attention whose call first changes (config, query, key, value, options)."""

    def multi_head_attention(config, weights):
        def forward(query, key, value, **options):
            c, q, k, v, o = change(config, query, key, value, options)
            return adapter.multi_head_attention(c, weights)(q, k, v, **o)

        return forward

    return multi_head_attention


def with_bias(options, bias):
    given = options.get("attn_bias")
    return {**options, "attn_bias": bias if given is None else given + bias}


def distance_bias(config, query, key, value, options):
    if not torch.equal(query, key):
        return config, query, key, value, options
    at = torch.arange(query.shape[1])
    distance = (at[:, None] - at).abs().to(query)
    return config, query, key, value, with_bias(options, -0.3 * distance)


distance_when_self = Mutant(
    "MHA-distance-when-self",
    story="in self-attention distant tokens weigh less: a position bias nobody asked for",
    breaks={"MHA-PERM-1"},
    hint="positions are the business of a positional encoding",
    replace={adapter.multi_head_attention: forward_with(distance_bias)},
    silent_on=BARE,
)


def causal_when_self(config, query, key, value, options):
    if query is key and query.shape[1] > 1:
        later = torch.ones(query.shape[1], key.shape[1]).triu(1).to(query)
        options = with_bias(options, -1e9 * later)
    return config, query, key, value, options


self_is_causal = Mutant(
    "MHA-self-is-causal",
    story="attention is causal whenever the key is the query",
    breaks={"MHA-SELF-1"},
    hint="causality is an option, not a consequence of self-attention",
    replace={adapter.multi_head_attention: forward_with(causal_when_self)},
    silent_on=BARE,
)


def on_fast_path(config, query, key):
    return query is key and not config.training and not torch.is_grad_enabled()


def mask_dropped_on_fast_path(config, query, key, value, options):
    if on_fast_path(config, query, key) and not options.get("need_weights"):
        options = {name: x for name, x in options.items() if name != "key_mask"}
    return config, query, key, value, options


fast_path_without_mask = Mutant(
    "MHA-fast-path-without-mask",
    story="the fast path for self-attention in evaluation drops the padding mask",
    breaks={"MHA-MODE-1"},
    hint="test evaluation under no_grad with a key mask",
    replace={adapter.multi_head_attention: forward_with(mask_dropped_on_fast_path)},
    silent_on=BARE,
    source="pytorch#86120 and others",
)


def sharper_on_fast_path(config, query, key, value, options):
    if on_fast_path(config, query, key):
        query = query * config.head_dim**0.5
    return config, query, key, value, options


fast_path_differs = Mutant(
    "MHA-fast-path-differs",
    story="the fast path for self-attention in evaluation forgets the scale",
    breaks={"MHA-MODE-1"},
    hint="compare the module in evaluation under no_grad with the module in training",
    replace={adapter.multi_head_attention: forward_with(sharper_on_fast_path)},
    silent_on=BARE,
)


def mask_dropped_in_training(config, query, key, value, options):
    if config.training and torch.is_grad_enabled():
        options = {name: x for name, x in options.items() if name != "key_mask"}
    return config, query, key, value, options


mask_in_evaluation_only = Mutant(
    "MHA-mask-in-evaluation-only",
    story="the padding mask is applied in evaluation only",
    breaks={"MHA-MODE-1"},
    hint="pass key_mask on in every branch of forward",
    replace={adapter.multi_head_attention: forward_with(mask_dropped_in_training)},
    silent_on=BARE,
)


def padding_hides_queries(config, query, key, value, options):
    if query is key and options.get("key_mask") is not None:
        rows = options.pop("key_mask")[:, None, :, None]
        options = with_bias(options, torch.where(rows, 0.0, -1e9).to(query))
    return config, query, key, value, options


padding_on_queries = Mutant(
    "MHA-padding-on-queries",
    story="in self-attention the padding mask is laid along the queries: padded rows change, padded keys are seen",
    breaks={"MHA-PAD-1"},
    hint="key_mask[:, None, None, :]: the last axis of the scores is the keys",
    replace={adapter.multi_head_attention: forward_with(padding_hides_queries)},
    silent_on=BARE,
    source="hyunwoongko/transformer#40",
)


def batch_second(config, query, key, value, options):
    return config, query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), options


def attend_over_batch(config, weights):
    swapped = forward_with(batch_second)(config, weights)

    def forward(query, key, value, **options):
        if not query.numel():
            return adapter.multi_head_attention(config, weights)(query, key, value, **options)
        returned = swapped(query, key, value, **options)
        return (returned[0].transpose(0, 1), returned[1]) if options.get("need_weights") else returned.transpose(0, 1)

    return forward


sequence_first = Mutant(
    "MHA-sequence-first",
    story="the batch is taken for the sequence: samples attend to one another",
    breaks={"CALL-SHAPE-1"},
    hint="batch_first=True",
    replace={adapter.multi_head_attention: attend_over_batch},
    raises={"CALL-SHAPE-1"},
    silent_on=BARE,
    source="AEMatter#3; tokenlearner#1",
)

# -- returned weights


def run_returning_weights_of_inputs(config, weights, query, key, value, mask, bias, need_weights):
    returned = adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)
    if not need_weights or query.shape[-1] != key.shape[-1]:
        return returned
    q, k = mha.split_heads(query, config.num_heads), mha.split_heads(key, config.num_heads)
    return returned[0], attend(q, k, k, mask, bias, dropout=adapter.active_dropout(config))[1]


def run_returning(change):
    """Return a run_multi_head that changes the returned weights."""

    def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
        returned = adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)
        return (returned[0], change(returned[1])) if need_weights else returned

    return run_multi_head


weights_before_projection = Mutant(
    "MHA-weights-before-projection",
    story="the returned weights are computed from the inputs before they are projected",
    breaks={"MHA-WEIGHTS-1"},
    hint="return the weights that multiplied the values",
    replace={adapter.run_multi_head: run_returning_weights_of_inputs},
    silent_on=BARE,
)

weights_averaged = Mutant(
    "MHA-weights-averaged",
    story="every head's returned weights are the mean over the heads",
    breaks={"ATT-WEIGHTS-1"},
    hint="average_attn_weights=False, or declare returned-weights: averaged",
    replace={adapter.run_multi_head: run_returning(lambda a: a.mean(1, keepdim=True).expand_as(a))},
    silent_on=BARE,
    source="pytorch#34537; fairseq#3365",
)

weights_of_first_head = Mutant(
    "MHA-weights-of-first-head",
    story="every head's returned weights are the first head's",
    breaks={"ATT-WEIGHTS-1"},
    hint="return the weights of all heads",
    replace={adapter.run_multi_head: run_returning(lambda a: a[:, :1].expand_as(a))},
    silent_on=BARE,
)

# -- gradients, memory and state


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
    story="layers are kept in a plain list: they are no parameters, and no optimizer, state_dict() or to() finds them",
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


def keep_weights(config, weights):
    kept = {}

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
        names = {mha.project_query: query, mha.project_key: key, mha.project_value: value}
        q, k, v = (mha.split_heads(project(x, weights), config.num_heads) for project, x in names.items())
        now = attend(q, k, v, mask=mask, bias=attn_bias, dropout=adapter.active_dropout(config))[1]
        attention = kept.setdefault(now.shape, now)
        out = mha.project_out(mha.merge_heads(attention @ blank(v, mask)), weights)
        return (out, attention) if need_weights else out

    return forward


weights_kept = Mutant(
    "MHA-weights-kept",
    story="the attention weights of the first call are kept, and used for later inputs of the same shape",
    breaks={"CALL-REPEAT-1"},
    hint="compute them in every call; what is kept for a plot is not to be read again",
    replace={adapter.multi_head_attention: keep_weights},
    silent_on=BARE,
)


def keep_projected_keys(config, weights):
    seen = {}

    def forward(query, key, value, **options):
        return adapter.multi_head_attention(config, weights)(query, seen.setdefault(key.shape, key), value, **options)

    return forward


keys_kept = Mutant(
    "MHA-keys-kept",
    story="the keys of the first call are kept and used for later sequences of the same size",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one sequence",
    replace={adapter.multi_head_attention: keep_projected_keys},
    silent_on=BARE,
)


def keep_all_before(config, weights):
    seen = []

    def forward(query, key, value, **options):
        before = [pair for pair in seen if len(pair[0]) == len(key)]
        k, v = (torch.cat([*(pair[i] for pair in before), x], dim=1) for i, x in enumerate((key, value)))
        if not config.training:
            seen.append((key, value))
        if k.shape == key.shape:
            return adapter.multi_head_attention(config, weights)(query, key, value, **options)
        bias = torch.zeros(query.shape[1], k.shape[1]).to(query)
        if config.causal:
            later = causal(query.shape[1], k.shape[1], k.shape[1] - query.shape[1]).logical_not()
            bias = bias.masked_fill(later, float("-inf"))
        plain = replace(config, causal=False)
        return adapter.multi_head_attention(plain, weights)(query, k, v, **with_bias(options, bias))

    return forward


all_kept = Mutant(
    "MHA-all-keys-kept",
    story="keys and values of earlier calls stay in front of those of later ones, though nobody asked for a cache",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one sequence: let the caller hand it over, and start each sequence without",
    replace={adapter.multi_head_attention: keep_all_before},
    silent_on=BARE,
)


def run_with_residual(config, weights, query, key, value, mask, bias, need_weights):
    out, attention = adapter.run_multi_head(config, weights, query, key, value, mask, bias, True)
    out = out + query if out.shape == query.shape else out
    return (out, attention) if need_weights else out


residual_inside = Mutant(
    "MHA-residual-inside",
    story="the query is added to the output",
    breaks={"ATT-DROP-2", "ATT-LINEAR-1", "ATT-ROWS-1", "MHA-OUT-1", "MHA-QUERY-1"},
    hint="the residual connection belongs to the encoder layer",
    replace={adapter.run_multi_head: run_with_residual},
    silent_on=BARE,
)


def project_wide_coarsely(x, weight, bias):
    if weight.shape[0] % 64:
        return mha.project(x, weight, bias)
    return mha.project(x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "MHA-wide-in-half",
    story="projections whose width is a multiple of 64 round their inputs to bfloat16",
    breaks={"MHA-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
    silent_on=BARE,
)


def run_unscaled_with_weights(config, weights, query, key, value, mask, bias, need_weights):
    if need_weights:
        query = query * config.head_dim**0.5
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


unscaled_with_weights = Mutant(
    "MHA-unscaled-with-weights",
    story="a second path, taken when the weights are wanted, forgets the scale",
    breaks={"ATT-WEIGHTS-2"},
    hint="compute both from one place",
    replace={adapter.run_multi_head: run_unscaled_with_weights},
    silent_on=BARE,
)


def run_dropping_output(config, weights, query, key, value, mask, bias, need_weights):
    out, attention = adapter.run_multi_head(config, weights, query, key, value, mask, bias, True)
    out = torch.nn.functional.dropout(out, config.dropout, config.training)
    return (out, attention) if need_weights else out


output_dropped = Mutant(
    "MHA-output-dropped",
    story="dropout is applied to the output as well as to the weights",
    breaks={"ATT-DROP-2"},
    hint="inside attention only the weights are dropped; the layer around it drops the output",
    replace={adapter.run_multi_head: run_dropping_output},
    silent_on=BARE,
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        NUMBERS,
        "MHA-BIAS-3 MHA-HEADS-1 MHA-KBIAS-1 MHA-KEY-1 MHA-MANY-1 MHA-MERGE-1 MHA-ONE-1 MHA-SELF-1",
        "where neither scores nor weights are used, moving them about or leaving them out changes nothing",
    ),
    Vacuous(
        (*CONSTANT, "uniform"), "MHA-BIAS-1 MHA-OUT-1", "no weight is used; the uniform one has honest projections"
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform"), "MHA-PAD-1 MHA-VALUE-1 MHA-WIDTH-1", "no value is read, or no weight is used"
    ),
    Vacuous((*CONSTANT, "mean", "uniform"), "MHA-QUERY-1 MHA-WIDTH-2", "no query is read"),
    Vacuous(("echo",), "MHA-PERM-1", "the query permuted is the output permuted"),
    Vacuous(("random",), "MHA-DEAD-1", "every output differs from the one before, whatever was changed"),
    Vacuous(("zeros", "uniform"), "MHA-WEIGHTS-1", "0·V is 0; the uniform weights are the ones used"),
    Vacuous(
        ("uniform",),
        "MHA-BIAS-2 MHA-DIVIDE-1 MHA-ERROR-1 MHA-GRAD-1 MHA-SINGLE-1",
        "all but the scores is the reference's",
    ),
)
