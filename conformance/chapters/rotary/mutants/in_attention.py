"""Ways to get rotary positions wrong: attention with rotary positions."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary
from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def attending(change):
    """Return rotary_attention on change(q, k, v, rotate): turned queries, turned keys, values."""

    def rotary_attention(q, k, v, positions, omega, causal=False):
        mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None

        def rotate(x, by=omega, at=positions):
            return rotary.rotate(x, at, by, 2 * len(omega))

        rotate(q)  # refuses what is to be refused
        return attend(*change(q, k, v, rotate), mask)[0]

    return rotary_attention


values_too = Mutant(
    "ROPE-values-turned",
    story="values are turned too",
    breaks={"ROPE-VALUE-1"},
    hint="turn queries and keys only",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), rotate(k), rotate(v)))},
)

queries_only = Mutant(
    "ROPE-queries-only",
    story="only the queries are turned",
    breaks={"ROPE-REL-2"},
    hint="turn the keys too, by the same table",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), k, v))},
)


def turned_by_halves(x, rotate):
    """Return x turned in pairs (x_i, x_i+R/2), whatever pairs the other side has."""
    return rotary.to_half(rotate(torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)))


two_pairings = Mutant(
    "ROPE-two-pairings",
    story="queries are turned in pairs of neighbours, keys in pairs of halves",
    breaks={"ROPE-REL-2"},
    hint="use one function for both: their products depend on the distance only where the pairs are the same",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), turned_by_halves(k, rotate), v))},
    variants=[
        {rotary.rotary_attention: attending(lambda q, k, v, rotate: (turned_by_halves(q, rotate), rotate(k), v))},
    ],
)

keys_only = Mutant(
    "ROPE-keys-only",
    story="only the keys are turned",
    breaks={"ROPE-REL-2"},
    hint="turn the queries too, by the same table",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (q, rotate(k), v))},
)

two_bases = Mutant(
    "ROPE-two-bases",
    story="queries and keys are turned by different frequencies",
    breaks={"ROPE-REL-2"},
    hint="one table for both",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q), rotate(k, rotary.frequencies(k.shape[-1], 500.0)), v)
        )
    },
)

keys_backwards = Mutant(
    "ROPE-keys-backwards",
    story="keys are turned backwards: scores depend on the sum of the positions",
    breaks={"ROPE-REL-2"},
    hint="turn queries and keys alike; the product takes care of the difference",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q), rotate(k, -rotary.frequencies(k.shape[-1], 10000.0)), v)
        )
    },
)

query_ahead = Mutant(
    "ROPE-query-ahead",
    story="a query stands one position ahead of the key of the same token",
    breaks={"ROPE-REL-2"},
    hint="a token has one position, for its query and for its key",
    replace={
        rotary.rotary_attention: attending(
            lambda q, k, v, rotate: (rotate(q, at=rotary.count(q) + 1), rotate(k, at=rotary.count(k)), v)
        )
    },
)

unscaled = Mutant(
    "ROPE-unscaled",
    story="the scores are not divided by √E",
    breaks={"ROPE-SCALE-1"},
    hint="the rotation changes no lengths: keep the scale",
    replace={
        rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q) * math.sqrt(q.shape[-1]), rotate(k), v))
    },
)

scaled_by_model = Mutant(
    "ROPE-scaled-by-model",
    story="the scores are divided by the root of the model's width",
    breaks={"ROPE-SCALE-1"},
    hint="divide by the root of one head's width",
    replace={
        rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q) / math.sqrt(q.shape[1]), rotate(k), v))
    },
)


def attend_after_turning_the_model(q, k, v, positions, omega, causal=False):
    pairs, heads = len(omega), []
    base = omega[-1] ** (-pairs / max(pairs - 1, 1))
    for h in range(q.shape[1]):
        dealt = base ** (-(h + torch.arange(pairs) / pairs) / q.shape[1])
        one = (x[:, h : h + 1] for x in (q, k, v))
        heads.append(rotary.rotary_attention(*one, positions=positions, omega=dealt, causal=causal))
    return torch.cat(heads, dim=1)


before_the_split = Mutant(
    "ROPE-before-the-split",
    story="the model is turned before it is split into heads: every head gets other frequencies",
    breaks={"ROPE-FREQ-2"},
    hint="split into heads first; the exponent has the width of one head",
    replace={rotary.rotary_attention: attend_after_turning_the_model},
)

twice_in_attention = Mutant(
    "ROPE-attention-twice",
    story="the layer turns queries and keys, and attention turns them again",
    breaks={"ROPE-FREQ-2"},
    hint="rotate in one place",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(rotate(q)), rotate(rotate(k)), v))},
)

causality_lost = Mutant(
    "ROPE-causality-lost",
    story="the causal mask is left out",
    breaks={"ROPE-CAUSAL-1"},
    hint="rotary positions hide nothing: keep the mask",
    replace={
        rotary.rotary_attention: lambda q, k, v, positions, omega, causal=False: rotary.rotary_attention(
            q, k, v, positions, omega, False
        )
    },
)


def attend_to_the_past(q, k, v, positions, omega, causal=False):
    mask = causal_mask(q.shape[-2], k.shape[-2], -1).to(q.device) if causal else None
    q, k = (rotary.rotate(x, positions, omega, 2 * len(omega)) for x in (q, k))
    return attend(q, k, v, mask)[0]


itself_hidden = Mutant(
    "ROPE-itself-hidden",
    story="a token does not attend to itself",
    breaks={"ROPE-CAUSAL-1"},
    hint="the diagonal of the causal mask is True",
    replace={rotary.rotary_attention: attend_to_the_past},
)

keys_detached = Mutant(
    "ROPE-keys-detached",
    story="keys are turned without gradients, as if they came from a cache",
    breaks={"ROPE-ORACLE-1"},
    hint="only keys of earlier calls are without gradients",
    replace={rotary.rotary_attention: attending(lambda q, k, v, rotate: (rotate(q), rotate(k).detach(), v))},
)
