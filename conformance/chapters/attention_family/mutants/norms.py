"""Ways to get norms of queries and keys wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family


def normalizing(change):
    """Return ``normalize`` with another way to do it: change(x, weights, name, kind, eps), where there is a norm."""

    def normalize(x, weights, name, kind, eps):
        return x if kind == "none" else change(x, weights, name, kind, eps)

    return normalize


def only(kept):
    return normalizing(lambda x, w, name, kind, eps: family.normalize(x, w, name, kind, eps) if name == kept else x)


queries_as_they_are = Mutant(
    "FAM-queries-not-normalized",
    story="the keys are normalized, and the queries are not",
    breaks={"FAM-NORM-1"},
    hint="q = q_norm(q) as well as k = k_norm(k)",
    replace={family.normalize: only("k_norm")},
)

keys_as_they_are = Mutant(
    "FAM-keys-not-normalized",
    story="the queries are normalized, and the keys are not",
    breaks={"FAM-NORM-1"},
    hint="k = k_norm(k) as well as q = q_norm(q)",
    replace={family.normalize: only("q_norm")},
)


def with_gain_of_queries(x, weights, name, kind, eps):
    same = {**weights}
    for part in ("weight", "bias"):
        if f"q_norm.{part}" in weights and weights[f"q_norm.{part}"].shape == weights[f"k_norm.{part}"].shape:
            same[f"k_norm.{part}"] = weights[f"q_norm.{part}"]
    return family.normalize(x, same, name, kind, eps)


one_gain = Mutant(
    "FAM-one-gain",
    story="the keys are normalized with the gain of the queries",
    breaks={"FAM-NORM-2"},
    hint="two norms: q_norm for queries, k_norm for keys",
    replace={family.normalize: normalizing(with_gain_of_queries)},
)


def without_gain(x, weights, name, kind, eps):
    bare = {n: torch.ones_like(w) if n.endswith("norm.weight") else w for n, w in weights.items()}
    return family.normalize(x, bare, name, kind, eps)


no_gain = Mutant(
    "FAM-norm-without-gain",
    story="queries and keys are normalized without their gains",
    breaks={"FAM-NORM-2"},
    hint="multiply by the weight of the norm",
    replace={family.normalize: normalizing(without_gain)},
)


def of_length_one(x, weights, name, kind, eps):
    longer = x * x.shape[-1] ** 0.5
    gain = weights[f"{name}.weight"] / x.shape[-1] ** 0.5
    return family.normalize(longer, {**weights, f"{name}.weight": gain}, name, kind, eps)


unit_length = Mutant(
    "FAM-norm-of-length-one",
    story="queries and keys are made of length 1, as by F.normalize, not of mean square 1",
    breaks={"FAM-ORACLE-1"},
    hint="divide by the root of the mean square: √D times as long as a unit vector",
    replace={family.normalize: normalizing(of_length_one)},
)


def over_tokens(x, weights, name, kind, eps):
    gain = weights[f"{name}.weight"]
    centred = x - x.mean(-2, keepdim=True) if kind == "layer" else x
    return centred / (centred.square().mean(-2, keepdim=True) + eps).sqrt() * gain


norm_over_tokens = Mutant(
    "FAM-norm-over-tokens",
    story="queries and keys are normalized over the tokens, not over the features",
    breaks={"FAM-NORM-3"},
    hint="dim=-1: the features of one token",
    replace={family.normalize: normalizing(over_tokens)},
)


def heads_together(x, weights, name, member):
    _, H, _, D = x.shape
    flat = x.transpose(1, 2).flatten(2)
    gain = {n: w.repeat(H) for n, w in weights.items() if n.startswith(name)}
    kind = member.qk_norm if member.qk_norm_over == "head" else "none"
    return family.normalize(flat, gain, name, kind, member.qk_norm_eps).unflatten(-1, (H, D)).transpose(1, 2)


norm_of_all_heads = Mutant(
    "FAM-norm-of-all-heads",
    story="a norm that is meant for each head is taken of all heads together",
    breaks={"FAM-NORM-3"},
    hint="split into heads first: the norm is over the features of one head, D",
    replace={family.normalize_heads: heads_together},
)


def values_too(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    if member.qk_norm == "none":
        return family.family_attention(query, key, value, weights, num_heads, member, mask, bias, dropout)
    kept = num_heads if member.num_kv_heads is None else member.num_kv_heads
    v = family.split_heads(family.project_value(value, weights), kept)
    flat = family.merge_heads(v / (v.square().mean(-1, keepdim=True) + member.qk_norm_eps).sqrt())
    same = {**weights, "v.weight": torch.eye(flat.shape[-1], dtype=flat.dtype, device=flat.device)}
    same.pop("v.bias", None)
    return family.family_attention(query, key, flat, same, num_heads, member, mask, bias, dropout)


values_normalized = Mutant(
    "FAM-values-normalized",
    story="the values are normalized, too",
    breaks={"FAM-NORM-4"},
    hint="queries and keys only: v stays as it was projected",
    replace={family.family_attention: values_too},
)


def in_the_other_order(x, weights, name, member):
    if member.qk_norm_place == "after":
        return family.place(family.normalize_heads(x, weights, name, member), member)
    return family.normalize_heads(family.place(x, member), weights, name, member)


norm_after_rotation = Mutant(
    "FAM-norm-after-rotation",
    story="queries and keys are normalized behind the rotation where that stands before, or the other way round",
    breaks={"FAM-ORACLE-1"},
    hint="the gain differs between the features that a rotation mixes: keep the order",
    replace={family.normalize_and_place: in_the_other_order},
)
