"""Mistakes that the checks have to catch: the reference with functions replaced. A check that none fails is refused."""

import math

from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous
from attnconf.reference import attention

VACUOUS = (
    Vacuous(NUMBERS, "HW-COPIES-1", "what takes no notice of how many keys there are does not change with them"),
)


def attend_adding_the_query(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    return out + q, weights


adds_query = Mutant(
    "HW-adds-query",
    story="the query is added to what attention gives",
    breaks={"HW-SHORT-1"},
    hint="the residual belongs into the layer around attention",
    replace={attention.attend: attend_adding_the_query},
)

by_length = Mutant(
    "HW-by-length",
    story="the weights are divided by √S, the square root of the number of keys",
    breaks={"HW-COPIES-1"},
    hint="divide the scores by √E before the softmax, and leave the weights as they are",
    replace={attention.weigh: lambda scores: attention.weigh(scores) / math.sqrt(scores.shape[-1])},
)
