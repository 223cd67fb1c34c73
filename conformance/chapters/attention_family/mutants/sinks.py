"""Ways to get sinks and gates wrong."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention_family as family

sink_ignored = Mutant(
    "FAM-sink-ignored",
    story="the sink takes no weight: the weights of the keys sum to 1",
    breaks={"FAM-SINK-1"},
    hint="cat the sink's logit to the scores before the softmax, and drop its column afterwards",
    replace={family.sinks_of: lambda member, weights, heads: None},
)


def added_to_scores(scores, sinks):
    return family.weigh(scores if sinks is None else scores + sinks.to(scores)[:, None, None])


sink_added = Mutant(
    "FAM-sink-added",
    story="the sink's logit is added to the scores, where it cancels",
    breaks={"FAM-SINK-1"},
    hint="a sink is one more column beside the scores, not a number on each of them",
    replace={family.weigh_beside: added_to_scores},
)


def exponential_forgotten(scores, sinks):
    if sinks is None:
        return family.weigh(scores)
    logits = sinks.to(scores)
    return family.weigh_beside(scores, torch.log(torch.where(logits == 0, torch.ones_like(logits), logits.abs())))


sink_without_exponential = Mutant(
    "FAM-sink-without-exponential",
    story="the sink's logit itself is added to the denominator, not e to its power",
    breaks={"FAM-SINK-1"},
    hint="Σ e^s + e^z in the denominator",
    replace={family.weigh_beside: exponential_forgotten},
)


def of_mean(member, weights, heads):
    found = family.sinks_of(member, weights, heads)
    return found if found is None else found.mean().expand(heads)


def of_the_first(member, weights, heads):
    found = family.sinks_of(member, weights, heads)
    return found if found is None else found[:1].expand(heads)


def in_reverse(member, weights, heads):
    found = family.sinks_of(member, weights, heads)
    return found if found is None else found.flip(0)


one_sink = Mutant(
    "FAM-one-sink",
    story="all heads share one sink",
    breaks={"FAM-SINK-2"},
    hint="a logit for each head",
    replace={family.sinks_of: of_mean},
    variants=[{family.sinks_of: of_the_first}, {family.sinks_of: in_reverse}],
)


def renormalized(scores, sinks):
    found = family.weigh_beside(scores, sinks)
    return found if sinks is None else found / found.sum(-1, keepdim=True).clamp_min(1e-30)


sink_dropped_first = Mutant(
    "FAM-sink-renormalized",
    story="the weights are divided by their sum once the sink's column is gone: the sink has no effect",
    breaks={"FAM-SINK-1"},
    hint="drop the column and leave the rest as it is",
    replace={family.weigh_beside: renormalized},
)


def with_a_value(scores, sinks):
    found = family.weigh_beside(scores, sinks)
    if sinks is None:
        return found
    left = 1 - found.sum(-1, keepdim=True)  # what the sink took
    return torch.cat([found[..., :1] + left, found[..., 1:]], dim=-1)


sink_with_a_value = Mutant(
    "FAM-sink-with-value",
    story="the sink adds a value: what it takes goes to the first key",
    breaks={"FAM-SINK-1"},
    hint="a sink takes weight and gives nothing: drop its column, and let the rest sum to less than 1",
    replace={family.weigh_beside: with_a_value},
)


def other_column(sink_first):
    """Return ``weigh_beside`` that drops the column at the other end than that of the sink."""

    def weigh_beside(scores, sinks):
        if sinks is None:
            return family.weigh(scores)
        sink = sinks.to(scores)[:, None, None].expand(*scores.shape[:-1], 1)
        if sink_first:
            return family.weigh(torch.cat([sink, scores], dim=-1))[..., :-1]
        return family.weigh(torch.cat([scores, sink], dim=-1))[..., 1:]

    return weigh_beside


sink_column_kept = Mutant(
    "FAM-sink-column-kept",
    story="the wrong column is dropped behind the softmax: the sink's weight goes to a value, the keys' are one off",
    breaks={"FAM-SINK-1"},
    hint="drop the sink's own column: [..., :-1] where it stands last, [..., 1:] where it stands first",
    replace={family.weigh_beside: other_column(sink_first=False)},
    variants=[{family.weigh_beside: other_column(sink_first=True)}],
)


def for_each_key(scores, sinks):
    more = None if sinks is None else sinks + math.log(scores.shape[-1])
    return family.weigh_beside(scores, more)


sink_for_each_key = Mutant(
    "FAM-sink-for-each-key",
    story="the sink is added to each key's exponential before these are summed: it counts once for each key",
    breaks={"FAM-SINK-1"},
    hint="Σ e^s + e^z: the sink once, behind the sum",
    replace={family.weigh_beside: for_each_key},
)


def scaled_too(member, weights, heads):
    found = family.sinks_of(member, weights, heads)
    width = weights["q.weight"].shape[0] // heads
    return found if found is None else found * (width**-0.5 if member.scale is None else member.scale)


sink_scaled = Mutant(
    "FAM-sink-scaled",
    story="the sink's logit is scaled as the scores are",
    breaks={"FAM-SINK-1"},
    hint="cat the sink to the scores when these have been scaled",
    replace={family.sinks_of: scaled_too},
)


# -- gates


def gated(change):
    """Return ``let_through`` with another gate: change(logits) in the place of their sigmoid."""

    def let_through(context, query, weights, member, heads):
        if member.gate == "none":
            return context
        gate = change(query @ weights["gate.weight"].T)
        if member.gate == "heads":
            gate = gate.repeat_interleave(context.shape[-1] // heads, dim=-1)
        return context * gate

    return let_through


gate_ignored = Mutant(
    "FAM-gate-ignored",
    story="the gate has no effect",
    breaks={"FAM-GATE-1"},
    hint="multiply the merged heads by sigmoid(gate(x))",
    replace={family.let_through: lambda context, query, weights, member, heads: context},
)

gate_linear = Mutant(
    "FAM-gate-without-sigmoid",
    story="the gate's projection multiplies the heads without a sigmoid",
    breaks={"FAM-GATE-1"},
    hint="torch.sigmoid(gate(x))",
    replace={family.let_through: gated(lambda logits: logits)},
)

gate_silu = Mutant(
    "FAM-gate-activated",
    story="the gate's projection goes through another activation than the sigmoid",
    breaks={"FAM-GATE-1"},
    hint="torch.sigmoid(gate(x)): between 0 and 1",
    replace={family.let_through: gated(torch.nn.functional.silu)},
    variants=[{family.let_through: gated(torch.tanh)}, {family.let_through: gated(lambda x: torch.softmax(x, -1))}],
)

gate_inverted = Mutant(
    "FAM-gate-inverted",
    story="the gate is shut where it should be open: 1 - sigmoid",
    breaks={"FAM-GATE-1"},
    hint="multiply by sigmoid(gate(x)) itself",
    replace={family.let_through: gated(lambda logits: torch.sigmoid(-logits))},
)


def behind_the_projection(query, key, value, weights, num_heads, member, mask=None, bias=None, dropout=0.0):
    out, attention = family.family_attention(
        query, key, value, weights, num_heads, family.Member(**{**vars(member), "gate": "none"}), mask, bias, dropout
    )
    if member.gate == "none":
        return out, attention
    gate = torch.sigmoid(query @ weights["gate.weight"].T)
    if member.gate == "heads":
        gate = gate.repeat_interleave(out.shape[-1] // num_heads, dim=-1)
    return out * gate, attention


gate_last = Mutant(
    "FAM-gate-last",
    story="the gate multiplies the output behind its projection",
    breaks={"FAM-ORACLE-1"},
    hint="gate the merged heads, then project",
    replace={family.family_attention: behind_the_projection},
)


def heads_in_turn(context, query, weights, member, heads):
    if member.gate != "heads":
        return family.let_through(context, query, weights, member, heads)
    gate = torch.sigmoid(query @ weights["gate.weight"].T)
    return context * gate.repeat(1, 1, context.shape[-1] // heads)


gate_in_turn = Mutant(
    "FAM-gate-in-turn",
    story="a gate of heads multiplies feature r by that of head r mod H",
    breaks={"FAM-GATE-1"},
    hint="repeat_interleave(D, dim=-1), or multiply before the heads are merged",
    replace={family.let_through: heads_in_turn},
)


gate_doubled = Mutant(
    "FAM-gate-doubled",
    story="the gate is 2·sigmoid, which lets everything through where its projection is 0",
    breaks={"FAM-ORACLE-1"},
    hint="torch.sigmoid(gate(x)), between 0 and 1",
    replace={family.let_through: gated(lambda logits: 2 * torch.sigmoid(logits))},
)
