"""torch's flex_attention: masks as block masks, biases as a change of scores, compiled where inputs are large.

Compiling takes seconds and a conformance run has hundreds of shapes: inputs below ``WORTH`` numbers go the way that
torch has for looking into it. What is compiled is compared with the reference before it is timed.
"""

import contextlib
import functools

import torch
from torch.nn.attention import flex_attention as flex

from attnconf.adapters.kit.compiled import WORTH, demand_compiler
from attnconf.adapters.kit.weight_names import both

__version__ = torch.__version__
declares = {"fully-masked-row": "zeros", "causal-alignment": "top-left", "returned-weights": "none"}


def attention(config, weights):
    earlier = {}  # block masks of causality alone depend on the lengths alone

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if config.dropout and config.training:
            raise NotImplementedError("dropout")
        given = both(attn_mask, None if key_mask is None else key_mask[:, None, None, :])
        lengths = query.shape[2], key.shape[2]
        if given is None and config.causal and lengths not in earlier:
            earlier[lengths] = flex.create_block_mask(causal, None, None, *lengths, device=query.device)
        mask = earlier.get(lengths) if given is None else block_mask(given, config.causal, query, key)
        attend = chosen(query, key, value)
        learnt = attn_bias is not None and attn_bias.requires_grad  # without a trace no gradient would reach it
        with contextlib.nullcontext() if learnt or attend is not flex.flex_attention else uncompiled():
            return attend(query, key, value, added(attn_bias, query, key), mask, scale=config.scale)

    return forward


def causal(sample, head, i, j):
    return i >= j


def block_mask(given, is_causal, query, key):
    size = (len(query), query.shape[1], query.shape[2], key.shape[2])
    given = given.expand(size)

    def allowed(sample, head, i, j):
        kept = given[sample, head, i, j]
        return kept & (i >= j) if is_causal else kept

    return flex.create_block_mask(allowed, *size, device=query.device)


def added(bias, query, key):
    if bias is None:
        return None
    bias = bias.expand(len(query), query.shape[1], query.shape[2], key.shape[2])
    return lambda score, sample, head, i, j: score + bias[sample, head, i, j]


def chosen(*inputs):
    """Return the function, compiled where that is worth it."""
    if max(x.numel() for x in inputs) < WORTH:
        return flex.flex_attention
    demand_compiler(inputs[0].device)
    return compiled()


@functools.cache
def compiled():
    return torch.compile(flex.flex_attention, dynamic=False)


@contextlib.contextmanager
def uncompiled():
    """torch compiles even what is called without compiling, but for this."""
    before = flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG
    flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True
    try:
        yield
    finally:
        flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = before
