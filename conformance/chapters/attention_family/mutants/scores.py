"""Ways to get the scale and the cap of scores wrong."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family


def with_own_scale(change):
    """Return family_attention with the member's scale changed: change(scale, width of a head)."""

    def run(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
        width = weights["q.weight"].shape[0] // num_heads
        changed = member if member.scale is None else replaced(member, scale=change(member.scale, width))
        return family.family_attention(query, key, value, weights, num_heads, changed, mask, bias, dropout)

    return run


def replaced(member, **changes):
    return family.Member(**{**vars(member), **changes})


scale_ignored = Mutant(
    "FAM-scale-ignored",
    story="a scale that is given has no effect: the scores are always divided by √D",
    breaks={"FAM-SCALE-1"},
    hint="hand the scale on to where the scores are made",
    replace={family.family_attention: with_own_scale(lambda scale, width: None)},
)

scale_besides = Mutant(
    "FAM-scale-besides",
    story="a scale that is given multiplies the scores besides 1/√D, not in its place",
    breaks={"FAM-SCALE-1"},
    hint="scale = 1/√D only where none is given",
    replace={family.family_attention: with_own_scale(lambda scale, width: scale * width**-0.5)},
)

scale_divides = Mutant(
    "FAM-scale-divides",
    story="the scores are divided by the scale that is given",
    breaks={"FAM-SCALE-1"},
    hint="multiply the scores by it; whoever means a divisor calls it so",
    replace={family.family_attention: with_own_scale(lambda scale, width: 1 / scale)},
    variants=[{family.family_attention: with_own_scale(lambda scale, width: scale**-0.5)}],
)


# -- the cap


def capped_by(bend):
    """Return ``cap`` with another function in the place of c·tanh(s/c)."""
    return lambda scores, softcap: scores if softcap is None else bend(scores, softcap)


cap_ignored = Mutant(
    "FAM-cap-ignored",
    story="the soft cap has no effect",
    breaks={"FAM-CAP-1"},
    hint="scores = c * tanh(scores / c) before the mask",
    replace={family.cap: lambda scores, softcap: scores},
)

cap_undivided = Mutant(
    "FAM-cap-undivided",
    story="scores are not divided by the cap before the tangent: c·tanh(s)",
    breaks={"FAM-CAP-1"},
    hint="c * tanh(scores / c): near 0 a score has to stay what it is",
    replace={family.cap: capped_by(lambda s, c: c * torch.tanh(s))},
)

cap_unmultiplied = Mutant(
    "FAM-cap-unmultiplied",
    story="scores are not multiplied by the cap behind the tangent: tanh(s/c) never exceeds 1",
    breaks={"FAM-CAP-1"},
    hint="c * tanh(scores / c): near 0 a score has to stay what it is",
    replace={family.cap: capped_by(lambda s, c: torch.tanh(s / c))},
)

cap_clamps = Mutant(
    "FAM-cap-clamps",
    story="scores are cut off at ±c instead of bent",
    breaks={"FAM-CAP-1"},
    hint="c * tanh(scores / c), which has a slope everywhere",
    replace={family.cap: capped_by(lambda s, c: s.clamp(-c, c))},
)


def capped_behind_the_mask(scores, softcap, biases, seen):
    return family.cap(family.prepare(scores, None, biases, seen), softcap)


def capped_behind_the_bias(scores, softcap, biases, seen):
    return family.hide(family.cap(family.prepare(scores, None, biases, None), softcap), seen)


cap_after_mask = Mutant(
    "FAM-cap-after-mask",
    story="scores are capped behind the mask: a hidden key has the score -c, and some weight",
    breaks={"FAM-CAP-2", "FAM-CAP-3"},
    hint="cap first, then mask",
    replace={family.prepare: capped_behind_the_mask},
)

cap_after_bias = Mutant(
    "FAM-cap-after-bias",
    story="a bias is added before the cap, which bends it",
    breaks={"FAM-CAP-3"},
    hint="cap the scores, then add biases and masks",
    replace={family.prepare: capped_behind_the_bias},
)


def weights_capped(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    bare = replaced(member, softcap=None)
    out, attention = family.family_attention(query, key, value, weights, num_heads, bare, mask, bias, dropout)
    if member.softcap is None:
        return out, attention
    kept = num_heads if member.num_kv_heads is None else member.num_kv_heads
    v = family.share_values(family.split_heads(family.project_value(value, weights), kept), num_heads)
    attention = family.cap(attention, member.softcap)
    return family.project_out(family.merge_heads(family.mix(attention, v)), weights), attention


cap_on_weights = Mutant(
    "FAM-cap-on-weights",
    story="the weights are capped behind the softmax, not the scores before it",
    breaks={"FAM-CAP-1"},
    hint="scores = c * tanh(scores / c), then the softmax",
    replace={family.family_attention: weights_capped},
)


def capped_unscaled(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    width = weights["q.weight"].shape[0] // num_heads
    scale = width**-0.5 if member.scale is None else member.scale
    changed = member if member.softcap is None else replaced(member, softcap=member.softcap * scale)
    return family.family_attention(query, key, value, weights, num_heads, changed, mask, bias, dropout)


cap_before_scale = Mutant(
    "FAM-cap-before-scale",
    story="scores are capped before they are scaled: what counts is never beyond ±c/√D",
    breaks={"FAM-CAP-1"},
    hint="scale first: s = q·k/√D, then c * tanh(s / c)",
    replace={family.family_attention: capped_unscaled},
)
