"""Ways to get the encoder wrong: the scale of scores, caps and windows, within layers."""

from dataclasses import replace

from attnconf.conformance.chapters.encoder.mutants.shared import attend, under
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family
from attnconf.reference import encoder
from attnconf.reference.attention import default_scale, drop, mix, score, weigh
from attnconf.reference.encoder import member_of
from attnconf.reference.masks import intersect
from attnconf.reference.multi_head_attention import merge_heads, project_out


def scoring(change):
    """Return self-attention of another member: change(member, width) -> member."""

    def attention(x, weights, style, mask):
        member = change(style.attention, x.shape[-1] // style.num_heads)
        return attend(x, weights, replace(style, attention=member), mask)

    return attention


def by_the_share_of_the_model(x, weights, style, mask):
    """Attend with scores over √(E/H), whatever the width of a head."""
    share = x.shape[-1] // style.num_heads
    wide = len(weights["attn.q.weight"]) != x.shape[-1]
    if not wide or style.attention.scale is not None:
        return attend(x, weights, style, mask)
    member = replace(style.attention, scale=share**-0.5)
    return attend(x, weights, replace(style, attention=member), mask)


share_of_model = Mutant(
    "ENC-head-scale-of-share",
    story="scores are divided by √(E/H) where heads have a width of their own",
    breaks={"ENC-HEAD-1"},
    hint="head_dim ** -0.5: the width of the queries that are multiplied",
    replace={encoder.self_attention: by_the_share_of_the_model},
)


def scaled_by(change):
    return scoring(lambda m, width: m if m.scale is None else replace(m, scale=change(m.scale, width)))


scale_ignored = Mutant(
    "ENC-scale-ignored",
    story="scores are divided by √D in a layer that is asked for another scale",
    breaks={"ENC-SCORE-1"},
    hint="hand the scale on to attention",
    replace={encoder.self_attention: scaled_by(lambda scale, width: None)},
)

scale_twice = Mutant(
    "ENC-scale-twice",
    story="scores in a layer are multiplied by the scale that is asked for, and divided by √D as well",
    breaks={"ENC-SCORE-1"},
    hint="one of the two: torch's scaled_dot_product_attention divides unless it is given scale",
    replace={encoder.self_attention: scaled_by(lambda scale, width: scale * width**-0.5)},
)


def capped_by(change):
    return scoring(lambda m, width: m if m.softcap is None else change(m, width))


cap_ignored = Mutant(
    "ENC-cap-ignored",
    story="scores in a layer are not bent: the soft cap has no effect",
    breaks={"ENC-CAP-1"},
    hint="scores = c * tanh(scores / c), before the mask",
    replace={encoder.self_attention: capped_by(lambda m, width: replace(m, softcap=None))},
)


def capped_unscaled(m, width):
    """Return the member whose scores are bent before they are scaled: scale·c·tanh(s/c) is c'·tanh(scale·s/c')."""
    return replace(m, softcap=m.softcap * (width**-0.5 if m.scale is None else m.scale))


cap_before_scale = Mutant(
    "ENC-cap-before-scale",
    story="scores in a layer are bent before they are scaled",
    breaks={"ENC-CAP-1"},
    hint="scale first, then c * tanh(scores / c)",
    replace={encoder.self_attention: capped_by(capped_unscaled)},
)


def capped_behind_the_mask(x, weights, style, mask):
    """Attend with scores that are bent once hidden: a hidden key has the score -c."""
    member = member_of(style)
    if member.softcap is None:
        return attend(x, weights, style, mask)
    own = under(weights, "attn")
    q, k, v = family.heads(x, x, x, own, style.num_heads, member)
    seen = intersect(mask, family.on(x, family.within(x.shape[1], x.shape[1], member.window)))
    scores = score(q, k, default_scale(q) if member.scale is None else member.scale)
    scores = family.cap(family.prepare(scores, None, (), seen), member.softcap)
    return drop(project_out(merge_heads(mix(drop(weigh(scores), style.dropout), v)), own), style.dropout)


cap_behind_mask = Mutant(
    "ENC-cap-behind-mask",
    story="scores in a layer are bent behind the mask: a hidden token has the score -c, and some weight",
    breaks={"ENC-CAP-1"},
    hint="bend first, then mask",
    replace={encoder.self_attention: capped_behind_the_mask},
)


def windowed_by(change):
    return scoring(lambda m, width: m if m.window is None else replace(m, window=change(*m.window)))


window_ignored = Mutant(
    "ENC-window-ignored",
    story="the window of a layer has no effect: every token is seen",
    breaks={"ENC-WINDOW-1"},
    hint="hide keys further away than the window, besides later ones and padding",
    replace={encoder.self_attention: windowed_by(lambda left, right: None)},
)

window_wide = Mutant(
    "ENC-window-wide",
    story="the window of a layer is one token too wide on the left",
    breaks={"ENC-WINDOW-1"},
    hint="i - left <= j: left tokens before the query's own, and that",
    replace={encoder.self_attention: windowed_by(lambda left, right: (left + 1, right))},
)

window_narrow = Mutant(
    "ENC-window-narrow",
    story="the window of a layer is one token too narrow on the left",
    breaks={"ENC-WINDOW-1"},
    hint="i - left <= j, not <: a window of w keys in all has left = w - 1",
    replace={encoder.self_attention: windowed_by(lambda left, right: (max(left - 1, 0), right))},
)
