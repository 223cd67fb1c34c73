"""Ways to get multi-head attention wrong: which weight meets which input."""

import torch
from torch.nn.functional import normalize

from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, attend_with
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha
from attnconf.reference.attention import attend


def renamed(weights, **sources):
    """Return the weights with projections taken from others: renamed(weights, k="q") lets k be q."""
    return {
        name: weights[f"{sources.get(name.split('.')[0], name.split('.')[0])}.{name.split('.')[1]}"] for name in weights
    }


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
    source="jsbaan/transformer-from-scratch#1",
)

queries_and_keys_crossed = Mutant(
    "MHA-q-and-k-weights-swapped",
    story="the query's weights project the keys and the key's the queries",
    breaks={"MHA-QUERY-1", "MHA-KEY-1"},
    hint="check the order of chunk(3): query, key, value",
    replace={mha.multi_head_attention: attend_with(lambda q, k, v, w, n: (q, k, v, renamed(w, q="k", k="q")))},
    silent_on=BARE,
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
    source="stanford-cs336/assignment1-basics, CHANGELOG.md, 0.1.4",
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
    source="neetcode-gh/leetcode#5130",
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
