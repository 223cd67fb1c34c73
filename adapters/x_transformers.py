"""x-transformers: rotary, learned and sinusoidal positions, ALiBi and T5's bias."""

from importlib.metadata import version

import torch
from x_transformers.x_transformers import (
    AbsolutePositionalEmbedding,
    AlibiPositionalBias,
    RelativePositionBias,
    RotaryEmbedding,
    ScaledSinusoidalEmbedding,
    apply_rotary_pos_emb,
)

from attnconf.adapters import bind

__version__ = version("x-transformers")
declares = {
    "rope-pairing": "interleaved",
    "sinusoidal-output": "table",
    "sinusoidal-layout": "halves",
    "sinusoidal-frequencies": "paper",
    "learned-output": "table",
    "learned-offset": "0",
    "alibi-slopes": "published",
    "t5-alignment": "bottom-right",
}

# Our scalings that its rotary embedding has options for.
OPTIONS = {"linear": "interpolation_factor", "ntk": "base_rescale_factor"}


def refuse_dropout(config):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")


def options(scaling):
    """Return the options for a scaling."""
    if scaling is None:
        return {}
    named = dict(scaling)
    if named["kind"] not in OPTIONS:
        raise NotImplementedError(f"the scaling {named['kind']}")
    return {OPTIONS[named["kind"]]: named["factor"]}


def rotary(config, weights):
    embedding = RotaryEmbedding(config.rotary_dim, base=config.base, **options(config.scaling))
    embedding.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
        return apply_rotary_pos_emb(x, *embedding(positions))

    return forward


def sinusoidal(config, weights):
    refuse_dropout(config)
    embedding = ScaledSinusoidalEmbedding(config.dim, config.base).to(config.device, config.dtype)
    # its one parameter scales the table; ours is the table itself
    call = bind(embedding, {"scale": torch.ones(1, device=config.device, dtype=config.dtype)})

    def forward(x, *, positions=None):
        if positions is not None and positions.ndim == 2:
            raise NotImplementedError("positions of its own for every sample")
        return call(x, pos=positions).expand(len(x), -1, -1)

    return forward


def learned(config, weights):
    refuse_dropout(config)
    table = weights["table.weight"]
    embedding = AbsolutePositionalEmbedding(config.dim, config.max_len).to(table.device, table.dtype)
    call = bind(embedding, {"emb.weight": table})

    def forward(x, *, positions=None):
        return call(x, pos=positions).expand(len(x), -1, -1)

    return forward


def alibi(config, weights):
    return AlibiPositionalBias(config.num_heads).to(config.device, config.dtype)


def relative_bias(config, weights):
    table = weights["table.weight"]
    bias = RelativePositionBias(
        1.0, not config.bidirectional, config.num_buckets, config.max_distance, config.num_heads
    ).to(table.device, table.dtype)
    return bind(bias, {"relative_attention_bias.weight": table})
