"""Mutants that no test can kill: changes to the code that change nothing that can be observed.

The proofs are in equivalent_mutants.md. A test asserts that each stays indistinguishable: one that a new check
kills was no equivalent, and belongs into its chapter's mutants.
"""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, multi_head_attention

# The first two are equivalent where nothing is done to keys or scores but what the paper does: a rotation, a norm of
# keys and a cap make a difference of them, so they stand in the attention of 2017 and not in its family.


def without_key_bias(query, key, value, weights, num_heads, mask=None, bias=None, dropout=0.0):
    kept = {name: w for name, w in weights.items() if name != "k.bias"}
    return multi_head_attention.multi_head_attention(query, key, value, kept, num_heads, mask, bias, dropout)


no_key_bias = Mutant(
    "MHA-no-key-bias",
    story="the keys' projection leaves its bias out",
    breaks=set(),
    hint="nothing to repair: see equivalent_mutants.md, 1",
    replace={multi_head_attention.multi_head_attention: without_key_bias},
)


def attend_with_offset(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    offset = q.mean(dim=-1, keepdim=True).expand(*q.shape[:-1], k.shape[-2])
    return attention.attend(q, k, v, mask, offset if bias is None else bias + offset, scale, dropout)


row_offset = Mutant(
    "ATT-row-offset",
    story="every score of a row gets the same number added",
    breaks=set(),
    hint="nothing to repair: see equivalent_mutants.md, 2",
    replace={attention.attend: attend_with_offset},
)


def weigh_from_another_reference(scores):
    empty = torch.isneginf(scores).all(dim=-1, keepdim=True)
    e = torch.exp(scores - scores.masked_fill(empty, 0.0).amax(dim=-1, keepdim=True) + 1.0)
    return e / e.sum(dim=-1, keepdim=True).masked_fill(empty, 1.0)


another_maximum = Mutant(
    "ATT-another-maximum",
    story="the softmax subtracts the row's maximum less 1",
    breaks=set(),
    hint="nothing to repair: see equivalent_mutants.md, 3",
    replace={attention.weigh: weigh_from_another_reference},
)

traded_factor = Mutant(
    "ATT-traded-factor",
    story="queries are multiplied by 4, keys divided by 4",
    breaks=set(),
    hint="nothing to repair: see equivalent_mutants.md, 4",
    replace={attention.score: lambda q, k, scale: attention.score(4 * q, k / 4, scale)},
)


def heads_reversed(x):
    return x if x is None or x.ndim < 3 else x.flip(-3)


def attend_heads_reversed(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    q, k, v, mask, bias = map(heads_reversed, (q, k, v, mask, bias))
    out, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    return heads_reversed(out), heads_reversed(weights)


heads_permuted = Mutant(
    "MHA-heads-permuted",
    story="the heads are computed in another order, masks and results along with them",
    breaks=set(),
    hint="nothing to repair: see equivalent_mutants.md, 5",
    replace={attention.attend: attend_heads_reversed},
)


def equivalents() -> dict[str, Mutant]:
    """Return the mutants proved equivalent, by id."""
    return {value.id: value for value in globals().values() if isinstance(value, Mutant)}
