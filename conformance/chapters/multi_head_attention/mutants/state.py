"""Ways to get multi-head attention wrong: memory, state, and what comes out in some modes and sizes."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, with_bias
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import multi_head_attention as mha
from attnconf.reference.attention import attend
from attnconf.reference.masks import blank, causal


def keep_weights(config, weights):
    kept = {}

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
        names = {mha.project_query: query, mha.project_key: key, mha.project_value: value}
        q, k, v = (mha.split_heads(project(x, weights), config.num_heads) for project, x in names.items())
        now = attend(q, k, v, mask=mask, bias=attn_bias, dropout=adapter.active_dropout(config))[1]
        attention = kept.setdefault(now.shape, now)
        out = mha.project_out(mha.merge_heads(attention @ blank(v, mask)), weights)
        return (out, attention) if need_weights else out

    return forward


weights_kept = Mutant(
    "MHA-weights-kept",
    story="the attention weights of the first call are kept, and used for later inputs of the same shape",
    breaks={"CALL-REPEAT-1"},
    hint="compute them in every call; what is kept for a plot is not to be read again",
    replace={adapter.multi_head_attention: keep_weights},
    silent_on=BARE,
)


def keep_projected_keys(config, weights):
    seen = {}

    def forward(query, key, value, **options):
        return adapter.multi_head_attention(config, weights)(query, seen.setdefault(key.shape, key), value, **options)

    return forward


keys_kept = Mutant(
    "MHA-keys-kept",
    story="the keys of the first call are kept and used for later sequences of the same size",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one sequence",
    replace={adapter.multi_head_attention: keep_projected_keys},
    silent_on=BARE,
)


def keep_all_before(config, weights):
    seen = []

    def forward(query, key, value, **options):
        before = [pair for pair in seen if len(pair[0]) == len(key)]
        k, v = (torch.cat([*(pair[i] for pair in before), x], dim=1) for i, x in enumerate((key, value)))
        if not config.training:
            seen.append((key, value))
        if k.shape == key.shape:
            return adapter.multi_head_attention(config, weights)(query, key, value, **options)
        bias = torch.zeros(query.shape[1], k.shape[1]).to(query)
        if config.causal:
            later = causal(query.shape[1], k.shape[1], k.shape[1] - query.shape[1]).logical_not()
            bias = bias.masked_fill(later, float("-inf"))
        plain = replace(config, causal=False)
        return adapter.multi_head_attention(plain, weights)(query, k, v, **with_bias(options, bias))

    return forward


all_kept = Mutant(
    "MHA-all-keys-kept",
    story="keys and values of earlier calls stay in front of those of later ones, though nobody asked for a cache",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one sequence: let the caller hand it over, and start each sequence without",
    replace={adapter.multi_head_attention: keep_all_before},
    silent_on=BARE,
)


def run_with_residual(config, weights, query, key, value, mask, bias, need_weights):
    out, attention = adapter.run_multi_head(config, weights, query, key, value, mask, bias, True)
    out = out + query if out.shape == query.shape else out
    return (out, attention) if need_weights else out


residual_inside = Mutant(
    "MHA-residual-inside",
    story="the query is added to the output",
    breaks={"ATT-DROP-2", "ATT-LINEAR-1", "ATT-ROWS-1", "MHA-OUT-1", "MHA-QUERY-1"},
    hint="the residual connection belongs to the encoder layer",
    replace={adapter.run_multi_head: run_with_residual},
    silent_on=BARE,
)


def project_wide_coarsely(x, weight, bias):
    if weight.shape[0] % 64:
        return mha.project(x, weight, bias)
    return mha.project(x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "MHA-wide-in-half",
    story="projections whose width is a multiple of 64 round their inputs to bfloat16",
    breaks={"ATT-FLOAT-1", "MHA-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
    silent_on=BARE,
)


def run_unscaled_with_weights(config, weights, query, key, value, mask, bias, need_weights):
    if need_weights:
        query = query * config.head_dim**0.5
    return adapter.run_multi_head(config, weights, query, key, value, mask, bias, need_weights)


unscaled_with_weights = Mutant(
    "MHA-unscaled-with-weights",
    story="a second path, taken when the weights are wanted, forgets the scale",
    breaks={"ATT-WEIGHTS-2"},
    hint="compute both from one place",
    replace={adapter.run_multi_head: run_unscaled_with_weights},
    silent_on=BARE,
)


def run_dropping_output(config, weights, query, key, value, mask, bias, need_weights):
    out, attention = adapter.run_multi_head(config, weights, query, key, value, mask, bias, True)
    out = torch.nn.functional.dropout(out, config.dropout, config.training)
    return (out, attention) if need_weights else out


output_dropped = Mutant(
    "MHA-output-dropped",
    story="dropout is applied to the output as well as to the weights",
    breaks={"ATT-DROP-2"},
    hint="inside attention only the weights are dropped; the layer around it drops the output",
    replace={adapter.run_multi_head: run_dropping_output},
    silent_on=BARE,
)
