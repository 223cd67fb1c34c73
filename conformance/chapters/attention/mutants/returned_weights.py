"""Ways to get scaled dot-product attention wrong: what comes back besides the output."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def attend_returning(change):
    """Return an attend that returns, instead of the weights, what it makes of the scores."""

    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        scores = attention.score(q, k, attention.default_scale(q) if scale is None else scale)
        scores = masks.hide(masks.add_bias(scores, bias), mask)
        return attention.attend(q, k, v, mask, bias, scale, dropout)[0], change(scores)

    return attend


scores_returned = Mutant(
    "ATT-scores-returned",
    story="the scores are returned as if they were the weights",
    breaks={"ATT-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={attention.attend: attend_returning(lambda scores: scores)},
)

returned_over_queries = Mutant(
    "ATT-returned-over-queries",
    story="the weights that are returned are a softmax over the queries, unlike those that multiply the values",
    breaks={"ATT-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={attention.attend: attend_returning(lambda scores: scores.softmax(dim=-2))},
)


def run_attention_unscaled_with_weights(config, query, key, value, mask, bias, need_weights):
    if need_weights:
        return attention.attend(query, key, value, mask, bias, 1.0)
    return adapter.run_attention(config, query, key, value, mask, bias, need_weights)


unscaled_with_weights = Mutant(
    "ATT-unscaled-with-weights",
    story="a second path, taken when the weights are wanted, forgets the scale",
    breaks={"ATT-WEIGHTS-2"},
    hint="compute both from one place",
    replace={adapter.run_attention: run_attention_unscaled_with_weights},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)
