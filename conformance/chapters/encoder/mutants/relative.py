"""Ways to get the encoder wrong: T5's relative bias, which all layers share."""

from dataclasses import replace

from attnconf.conformance.chapters.encoder.mutants.shared import attend, in_layer, under
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder, relative_bias
from attnconf.reference.attention import drop
from attnconf.reference.attention_family import family_attention

TABLE = "attn.relative.weight"


def sharing(change):
    """Return an in_layer whose layer number i has change(table, i) for a table."""

    def layer(weights, i):
        own = in_layer(weights, i)
        return {**own, TABLE: change(own[TABLE], i)} if TABLE in own else own

    return layer


def adding(bias_of):
    """Return self-attention that adds bias_of(table, member, L) where a relative bias is, (H, L, L)."""

    def attending(x, weights, style, mask):
        if style.attention.positions != "relative-bias":
            return attend(x, weights, style, mask)
        own, member, length = under(weights, "attn"), encoder.member_of(style), x.shape[1]
        bias = bias_of(own["relative.weight"], member, length)[None].to(x)
        plain = replace(member, positions="none")
        out, _ = family_attention(x, x, x, own, style.num_heads, plain, mask, bias, style.dropout)
        return drop(out, style.dropout)

    return attending


def right_bias(table, member, length):
    return relative_bias.bias(table, length, length, bidirectional=member.both_ways)


def the_other_way(table, member, length):
    return relative_bias.bias(table, length, length, bidirectional=not member.both_ways)


first_layer_alone = Mutant(
    "ENC-relative-first-layer",
    story="only the first layer adds the relative bias to its scores",
    breaks={"ENC-RELATIVE-1"},
    hint="the first layer makes the bias, and every layer adds it: hand it on in the loop over the layers",
    replace={encoder.in_layer: sharing(lambda table, i: table if i == 0 else 0 * table)},
)

added_up = Mutant(
    "ENC-relative-adds-up",
    story="each layer adds the relative bias to that of the layers before it: layer i has it i times",
    breaks={"ENC-RELATIVE-1"},
    hint="make the bias once, and do not write to it: no position_bias += bias in the loop",
    replace={encoder.in_layer: sharing(lambda table, i: (i + 1) * table)},
)

all_but_the_first = Mutant(
    "ENC-relative-after-first-layer",
    story="the first layer makes the relative bias, hands it on, and does not add it itself",
    breaks={"ENC-RELATIVE-1"},
    hint="the first layer adds the bias, too",
    replace={encoder.in_layer: sharing(lambda table, i: 0 * table if i == 0 else table)},
)

never_added = Mutant(
    "ENC-relative-unused",
    story="the table of the relative bias exists, and nothing of it is added to any score",
    breaks={"ENC-RELATIVE-1"},
    hint="softmax(scores + bias)",
    replace={encoder.self_attention: adding(lambda table, member, length: 0 * right_bias(table, member, length))},
)

reversed_sign = Mutant(
    "ENC-relative-reversed",
    story="the relative position is query - key: what comes before a token has the buckets of what comes after it",
    breaks={"ENC-RELATIVE-1"},
    hint="key - query: memory_position[None, :] - context_position[:, None]",
    replace={encoder.self_attention: adding(lambda table, member, length: right_bias(table, member, length).mT)},
)

other_direction = Mutant(
    "ENC-relative-direction",
    story="an encoder has no buckets for later keys, or a causal stack keeps half of its buckets for them",
    breaks={"ENC-RELATIVE-1"},
    hint="bidirectional where tokens see later ones, and only there",
    replace={encoder.self_attention: adding(the_other_way)},
)


def heads_alike(table, member, length):
    return right_bias(table[:, :1].expand_as(table), member, length)


one_for_all_heads = Mutant(
    "ENC-relative-heads-alike",
    story="all heads have the relative bias of the first one",
    breaks={"ENC-RELATIVE-1"},
    hint="nn.Embedding(num_buckets, num_heads): each head has numbers of its own",
    replace={encoder.self_attention: adding(heads_alike)},
)


def without_logarithm(table, member, length):
    distance = relative_bias.relative(length, length)
    if not member.both_ways:
        buckets = (-distance).clamp(0, len(table) - 1)
    else:
        half = len(table) // 2
        buckets = distance.abs().clamp(max=half - 1) + half * (distance > 0)
    return relative_bias.look_up(table, buckets)


every_distance_apart = Mutant(
    "ENC-relative-clamped",
    story="every distance has a bucket of its own, up to the last one: far ones do not share by the logarithm",
    breaks={"ENC-RELATIVE-1"},
    hint="half of the buckets are exact, the others grow by the logarithm up to max_distance",
    replace={encoder.self_attention: adding(without_logarithm)},
)
