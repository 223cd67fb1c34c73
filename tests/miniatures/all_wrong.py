"""Wrong in every way at once: what a run costs in which everything fails and nothing explains it."""

import torch

_calls = [0]


def wrong(query, shape, need_weights, weights_shape):
    _calls[0] += 1
    with torch.no_grad():
        query.add_(0.5)
    row = torch.linspace(-1, 1, shape[-1]).expand(shape).clone()
    out = (row * query.float().mean() + _calls[0] % 7 + row.exp() * query.float().std()).float()
    out = torch.where(torch.rand(shape) < 0.1, torch.nan, out)
    return (out, torch.ones(weights_shape)) if need_weights else out


def attention(config, weights):
    def forward(query, key, value, *, need_weights=False, **masks):
        shape = (*query.shape[:-1], value.shape[-1])
        return wrong(query, shape, need_weights, (*query.shape[:-1], key.shape[-2]))

    return forward


def multi_head_attention(config, weights):
    def forward(query, key, value, *, need_weights=False, **masks):
        shape = (*query.shape[:-1], config.out_dim)
        rows = (query.shape[0], config.num_heads, query.shape[1], key.shape[1])
        return wrong(query, shape, need_weights, rows)

    return forward
