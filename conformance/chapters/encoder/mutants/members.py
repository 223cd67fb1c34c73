"""Ways to get the encoder wrong: shared heads, what turns, and norms of queries and keys, within layers."""

from dataclasses import replace

from attnconf.conformance.chapters.encoder.mutants.shared import attend
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder

# -- shared heads


def sharing(copies):
    """Return self-attention whose shared heads are copied in another way: copies(heads, times), (K, …) -> (H, …)."""

    def attention(x, weights, style, mask):
        kept, heads = style.attention.num_kv_heads, style.num_heads
        if kept in (None, heads):
            return attend(x, weights, style, mask)
        wide = ("k", "v", "k_norm") if style.attention.qk_norm_over == "width" else ("k", "v")
        prefixes = tuple(f"attn.{part}." for part in wide)
        each = {n: w.unflatten(0, (kept, -1)) for n, w in weights.items() if n.startswith(prefixes)}
        many = {n: copies(w, heads // kept).flatten(0, 1) for n, w in each.items()}
        plain = replace(style, attention=replace(style.attention, num_kv_heads=None))
        return attend(x, {**weights, **many}, plain, mask)

    return attention


def tiled(heads, times):
    return heads.repeat(times, *[1] * (heads.ndim - 1))


def first_for_all(heads, times):
    return heads[:1].expand(len(heads) * times, *heads.shape[1:])


def reversed_groups(heads, times):
    return heads.flip(0).repeat_interleave(times, dim=0)


heads_tiled = Mutant(
    "ENC-heads-tiled",
    story="shared heads of keys and values are repeated as a whole, 0 1 0 1, where each has its copies beside it",
    breaks={"ENC-GROUP-1"},
    hint="repeat_interleave(num_heads // num_kv_heads, dim=1), or expand behind the axis of heads; not repeat",
    replace={encoder.self_attention: sharing(tiled)},
)

heads_reversed = Mutant(
    "ENC-groups-reversed",
    story="the last group of heads reads the first shared head of keys and values, and so on",
    breaks={"ENC-GROUP-1"},
    hint="head h reads head h // (num_heads // num_kv_heads)",
    replace={encoder.self_attention: sharing(reversed_groups)},
)

first_head_for_all = Mutant(
    "ENC-first-head-for-all",
    story="all heads read the first of the shared heads of keys and values",
    breaks={"ENC-GROUP-1"},
    hint="each group of heads reads a head of its own",
    replace={encoder.self_attention: sharing(first_for_all)},
)


# -- a part of each head that turns


def turning(change):
    """Return self-attention whose heads turn otherwise: change(weights, style, part, width), where a part turns."""

    def attention(x, weights, style, mask):
        part, width = style.attention.rotary_dim, x.shape[-1] // style.num_heads
        if not style.rotary or part in (None, width):
            return attend(x, weights, style, mask)
        return attend(x, *change(weights, style, part, width), mask)

    return attention


def all_of_them(weights, style, part, width):
    return weights, replace(style, attention=replace(style.attention, rotary_dim=None))


def in_steps_of_the_head(weights, style, part, width):
    base = style.attention.base ** (part / width)  # base^(-2i/width), for pair i of the part
    return weights, replace(style, attention=replace(style.attention, base=base))


def the_last_ones(weights, style, part, width):
    """Return weights with the last rows of each head before the others: queries and keys meet in any order."""
    names = tuple(f"attn.{name}{norm}." for name in "qk" for norm in ("", "_norm"))
    rolled = {n: w.unflatten(0, (-1, width)).roll(part, 1).flatten(0, 1) for n, w in weights.items()
              if n.startswith(names)}  # fmt: skip
    return {**weights, **rolled}, style


whole_heads_turned = Mutant(
    "ENC-rotary-whole",
    story="all features of a head are turned, where only a part of them should be",
    breaks={"ENC-TURN-1"},
    hint="split q and k: turn x[..., :rotary_dim], and append x[..., rotary_dim:] as it is",
    replace={encoder.self_attention: turning(all_of_them)},
)

steps_of_the_head = Mutant(
    "ENC-rotary-steps-of-head",
    story="a part of each head turns with the frequencies of the whole: exponents are divided by the width of the head",
    breaks={"ENC-TURN-1"},
    hint="base ** (-torch.arange(0, rotary_dim, 2) / rotary_dim)",
    replace={encoder.self_attention: turning(in_steps_of_the_head)},
)

last_features_turned = Mutant(
    "ENC-rotary-last-features",
    story="the last features of each head turn, and the first ones pass",
    breaks={"ENC-TURN-1"},
    hint="turn x[..., :rotary_dim], and append x[..., rotary_dim:] as it is",
    replace={encoder.self_attention: turning(the_last_ones)},
)

# -- norms of queries and keys


def normalizing(change):
    """Return self-attention with other norms: change(weights, style) -> weights and style, where there are norms."""

    def attention(x, weights, style, mask):
        if style.attention.qk_norm == "none":
            return attend(x, weights, style, mask)
        return attend(x, *change(weights, style), mask)

    return attention


def not_normalized(weights, style):
    return weights, replace(style, attention=replace(style.attention, qk_norm="none"))


without_norms = Mutant(
    "ENC-qk-unnormed",
    story="the norms of queries and keys exist and are never applied",
    breaks={"ENC-QK-1"},
    hint="q = q_norm(q) and k = k_norm(k), before the scores",
    replace={encoder.self_attention: normalizing(not_normalized)},
)


def with_gain_of_queries(weights, style):
    same = {}
    for kind in ("weight", "bias"):
        ours, theirs = f"attn.q_norm.{kind}", f"attn.k_norm.{kind}"
        if ours in weights and weights[ours].shape == weights[theirs].shape:
            same[theirs] = weights[ours]
    return {**weights, **same}, style


one_gain = Mutant(
    "ENC-qk-one-gain",
    story="the keys of a layer are normalized by the norm of the queries",
    breaks={"ENC-QK-2"},
    hint="k = k_norm(k): keys have a norm of their own",
    replace={encoder.self_attention: normalizing(with_gain_of_queries)},
)


def over_the_width(weights, style):
    """Return norms of all heads together, of the gain of one head, which is repeated."""
    member = style.attention
    if member.qk_norm_over != "head" or (style.rotary and member.qk_norm_place == "after"):
        return weights, style
    heads = {"q": style.num_heads, "k": member.num_kv_heads or style.num_heads}
    many = {n: w.repeat(heads[n[5]]) for n, w in weights.items() if n.startswith(("attn.q_norm.", "attn.k_norm."))}
    return {**weights, **many}, replace(style, attention=replace(member, qk_norm_over="width"))


norm_of_all_heads = Mutant(
    "ENC-qk-norm-of-all-heads",
    story="a norm that is meant for each head of queries and keys is taken of all heads together",
    breaks={"ENC-QK-2"},
    hint="split into heads first: the norm is over the features of one head",
    replace={encoder.self_attention: normalizing(over_the_width)},
)


def on_the_other_side(weights, style):
    other = {"before": "after", "after": "before"}[style.attention.qk_norm_place]
    return weights, replace(style, attention=replace(style.attention, qk_norm_place=other))


behind_the_rotation = Mutant(
    "ENC-qk-norm-after-rotation",
    story="queries and keys are normalized behind the rotation where that stands before, or the other way round",
    breaks={"ENC-QK-2"},
    hint="the gain differs between the features that a rotation mixes: keep the order",
    replace={encoder.self_attention: normalizing(on_the_other_side)},
)
