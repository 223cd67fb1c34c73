"""Ways to get multi-head attention wrong: paths: self-attention, modes, masks."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.multi_head_attention.mutants.shared import BARE, with_bias
from attnconf.conformance.engine.mutant import Mutant


def forward_with(change):
    """Return an adapter's multi_head_attention whose call first changes (config, query, key, value, options)."""

    def multi_head_attention(config, weights):
        def forward(query, key, value, **options):
            c, q, k, v, o = change(config, query, key, value, options)
            return adapter.multi_head_attention(c, weights)(q, k, v, **o)

        return forward

    return multi_head_attention


def distance_bias(config, query, key, value, options):
    if not torch.equal(query, key):
        return config, query, key, value, options
    at = torch.arange(query.shape[1])
    distance = (at[:, None] - at).abs().to(query)
    return config, query, key, value, with_bias(options, -0.3 * distance)


distance_when_self = Mutant(
    "MHA-distance-when-self",
    story="in self-attention distant tokens weigh less: a position bias nobody asked for",
    breaks={"MHA-PERM-1"},
    hint="positions are the business of a positional encoding",
    replace={adapter.multi_head_attention: forward_with(distance_bias)},
    silent_on=BARE,
)


def causal_when_self(config, query, key, value, options):
    if query is key and query.shape[1] > 1:
        later = torch.ones(query.shape[1], key.shape[1]).triu(1).to(query)
        options = with_bias(options, -1e9 * later)
    return config, query, key, value, options


self_is_causal = Mutant(
    "MHA-self-is-causal",
    story="attention is causal whenever the key is the query",
    breaks={"MHA-SELF-1"},
    hint="causality is an option, not a consequence of self-attention",
    replace={adapter.multi_head_attention: forward_with(causal_when_self)},
    silent_on=BARE,
)


def on_fast_path(config, query, key):
    return query is key and not config.training and not torch.is_grad_enabled()


def mask_dropped_on_fast_path(config, query, key, value, options):
    if on_fast_path(config, query, key) and not options.get("need_weights"):
        options = {name: x for name, x in options.items() if name != "key_mask"}
    return config, query, key, value, options


fast_path_without_mask = Mutant(
    "MHA-fast-path-without-mask",
    story="the fast path for self-attention in evaluation drops the padding mask",
    breaks={"MHA-MODE-1"},
    hint="test evaluation under no_grad with a key mask",
    replace={adapter.multi_head_attention: forward_with(mask_dropped_on_fast_path)},
    silent_on=BARE,
    source="pytorch#86120 and others",
)


def sharper_on_fast_path(config, query, key, value, options):
    if on_fast_path(config, query, key):
        query = query * config.head_dim**0.5
    return config, query, key, value, options


fast_path_differs = Mutant(
    "MHA-fast-path-differs",
    story="the fast path for self-attention in evaluation forgets the scale",
    breaks={"MHA-MODE-1"},
    hint="compare the module in evaluation under no_grad with the module in training",
    replace={adapter.multi_head_attention: forward_with(sharper_on_fast_path)},
    silent_on=BARE,
)


def mask_dropped_in_training(config, query, key, value, options):
    if config.training and torch.is_grad_enabled():
        options = {name: x for name, x in options.items() if name != "key_mask"}
    return config, query, key, value, options


mask_in_evaluation_only = Mutant(
    "MHA-mask-in-evaluation-only",
    story="the padding mask is applied in evaluation only",
    breaks={"MHA-MODE-1"},
    hint="pass key_mask on in every branch of forward",
    replace={adapter.multi_head_attention: forward_with(mask_dropped_in_training)},
    silent_on=BARE,
)


def padding_hides_queries(config, query, key, value, options):
    if query is key and options.get("key_mask") is not None:
        rows = options.pop("key_mask")[:, None, :, None]
        options = with_bias(options, torch.where(rows, 0.0, -1e9).to(query))
    return config, query, key, value, options


padding_on_queries = Mutant(
    "MHA-padding-on-queries",
    story="in self-attention the padding mask is laid along the queries: padded rows change, padded keys are seen",
    breaks={"MHA-PAD-1"},
    hint="key_mask[:, None, None, :]: the last axis of the scores is the keys",
    replace={adapter.multi_head_attention: forward_with(padding_hides_queries)},
    silent_on=BARE,
    source="hyunwoongko/transformer#40",
)


def batch_second(config, query, key, value, options):
    return config, query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), options


def attend_over_batch(config, weights):
    swapped = forward_with(batch_second)(config, weights)

    def forward(query, key, value, **options):
        if not query.numel():
            return adapter.multi_head_attention(config, weights)(query, key, value, **options)
        returned = swapped(query, key, value, **options)
        return (returned[0].transpose(0, 1), returned[1]) if options.get("need_weights") else returned.transpose(0, 1)

    return forward


sequence_first = Mutant(
    "MHA-sequence-first",
    story="the batch is taken for the sequence: samples attend to one another",
    breaks={"CALL-SHAPE-1"},
    hint="batch_first=True",
    replace={adapter.multi_head_attention: attend_over_batch},
    raises={"CALL-SHAPE-1"},
    silent_on=BARE,
    source="AEMatter#3; tokenlearner#1",
)
