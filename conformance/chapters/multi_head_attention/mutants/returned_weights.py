"""Ways to get multi-head attention wrong: returned weights."""

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha
from attnconf.reference.attention import attend


def run_returning_weights_of_inputs(config, weights, query, key, value, mask, bias, need_weights):
    returned = adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)
    if not need_weights or query.shape[-1] != key.shape[-1]:
        return returned
    q, k = mha.split_heads(query, config.num_heads), mha.split_heads(key, config.num_heads)
    return returned[0], attend(q, k, k, mask, bias, dropout=adapter.active_dropout(config))[1]


def run_returning(change):
    """Return a run_multi_head that changes the returned weights."""

    def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
        returned = adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)
        return (returned[0], change(returned[1])) if need_weights else returned

    return run_multi_head


weights_before_projection = Mutant(
    "MHA-weights-before-projection",
    story="the returned weights are computed from the inputs before they are projected",
    breaks={"MHA-WEIGHTS-1"},
    hint="return the weights that multiplied the values",
    replace={adapter.run_multi_head: run_returning_weights_of_inputs},
    silent_on=BARE,
)

weights_averaged = Mutant(
    "MHA-weights-averaged",
    story="every head's returned weights are the mean over the heads",
    breaks={"ATT-WEIGHTS-1"},
    hint="average_attn_weights=False, or declare returned-weights: averaged",
    replace={adapter.run_multi_head: run_returning(lambda a: a.mean(1, keepdim=True).expand_as(a))},
    silent_on=BARE,
    source="pytorch#34537; fairseq#3365",
)

weights_of_first_head = Mutant(
    "MHA-weights-of-first-head",
    story="every head's returned weights are the first head's",
    breaks={"ATT-WEIGHTS-1"},
    hint="return the weights of all heads",
    replace={adapter.run_multi_head: run_returning(lambda a: a[:, :1].expand_as(a))},
    silent_on=BARE,
)
