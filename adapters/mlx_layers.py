"""MLX: attention, rotary and sinusoidal positions, ALiBi, norms, encoder layers and stacks of mlx.nn, on the CPU.

Its embedding is left out: an id beyond the table reads memory that is not the table's.
"""

from importlib.metadata import version

import mlx.core as mx
import torch
from mlx import nn
from mlx.utils import tree_unflatten

from attnconf.adapters.kit.mlx_bridge import through_mlx
from attnconf.adapters.kit.weight_names import both, demand, earlier, over_keys, renamed, stacked

__version__ = version("mlx")
ACTIVATIONS = {
    "relu": nn.relu, "gelu": nn.gelu, "gelu-tanh": nn.gelu_approx, "quick-gelu": nn.gelu_fast_approx,
    "silu": nn.silu, "sigmoid": nn.sigmoid, "none": lambda x: x,
}  # fmt: skip


def filled(module, weights):
    """Return a module with these weights, by their paths in it."""
    module.update(tree_unflatten(list(weights.items())), strict=True)
    return module


# -- attention


def one_mask(config, query, key, key_mask, attn_mask, attn_bias):
    """Return the mask as they take it, one of booleans or of numbers; causality goes in with others, or by its name."""
    mask = both(attn_mask, over_keys(key_mask))
    if config.causal and mask is None and attn_bias is None:
        return "causal"
    if config.causal:
        rows = query.shape[-2], key.shape[-2]
        mask = both(mask, torch.ones(rows, dtype=torch.bool).tril(rows[1] - rows[0]))
    if attn_bias is not None:
        mask = attn_bias if mask is None else torch.where(mask, attn_bias, float("-inf"))
    return mask


def attend(config, query, key, value, mask):
    scale = query.shape[-1] ** -0.5 if config.scale is None else config.scale
    return mx.fast.scaled_dot_product_attention(query, key, value, scale=scale, mask=mask)


def attention(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    run = through_mlx(attend, config)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        return run(query, key, value, one_mask(config, query, key, key_mask, attn_mask, attn_bias))

    return forward


PROJECTIONS = {"q": "query_proj", "k": "key_proj", "v": "value_proj", "out": "out_proj"}


def attend_in_heads(config, weights, query, key, value, mask):
    width = config.num_heads * config.head_dim
    layer = nn.MultiHeadAttention(
        width, config.num_heads, config.embed_dim, config.key_dim, config.value_dim, width, config.out_dim, config.bias
    )
    return filled(layer, weights)(query, key, value, mask)


def multi_head_attention(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    run, weights = through_mlx(attend_in_heads, config), renamed(weights, PROJECTIONS)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        return run(weights, query, key, value, one_mask(config, query, key, key_mask, attn_mask, attn_bias))

    return forward


# -- positions


def make_rotary(interleaved):
    def turn(config, x):
        scaling = dict(config.scaling or {"kind": "linear", "factor": 1})
        return nn.RoPE(config.rotary_dim, interleaved, config.base, 1 / scaling["factor"])(x)

    def rotary(config, weights):
        if config.scaling is not None and dict(config.scaling)["kind"] != "linear":
            raise NotImplementedError(f"the scaling {dict(config.scaling)['kind']}")
        run = through_mlx(turn, config)

        def forward(x, *, positions=None):
            if positions is not None:
                raise NotImplementedError("explicit positions other than an offset")
            return run(x)

        return forward

    return rotary


def make_sinusoidal(cos_first):
    def encode(config, positions):
        return nn.SinusoidalPositionalEncoding(config.dim, 1 / config.base, scale=1, cos_first=cos_first)(positions)

    def sinusoidal(config, weights):
        """It encodes the positions that it is given, whatever these are: places in float32 at least."""
        if config.training and config.dropout:
            raise NotImplementedError("dropout")
        run, dtype = through_mlx(encode, config), torch.promote_types(config.dtype, torch.float32)

        def forward(x, *, positions=None):
            positions = torch.arange(x.shape[1]) if positions is None else positions
            return run((positions if positions.ndim == 2 else positions.repeat(len(x), 1)).to(dtype))

        return forward

    return sinusoidal


def add_alibi(config, scores):
    lengths = scores.shape[-2:]
    return nn.ALiBi()(scores, offset=lengths[1] - lengths[0])[0]


def alibi(config, weights):
    """Return what is added to scores of 0; the offset of the queries, as a cache has it, puts them at the last keys."""
    run = through_mlx(add_alibi, config)
    return lambda *lengths: run(torch.zeros(1, config.num_heads, *lengths, dtype=config.dtype))


# -- norms, embedding and layers


def normalize_layer(config, weights, x):
    return filled(nn.LayerNorm(*config.shape, config.eps, config.affine, config.bias), weights)(x)


def layer_norm(config, weights):
    if len(config.shape) > 1:
        raise NotImplementedError("several axes")
    run = through_mlx(normalize_layer, config)
    return lambda x: run(dict(weights), x)


def normalize_rms(config, weights, x):
    return filled(nn.RMSNorm(config.dim, config.eps), weights)(x)


def rms_norm(config, weights):
    run = through_mlx(normalize_rms, config)
    return lambda x: run(dict(weights), x)


LAYER = {
    **{f"attn.{ours}": f"attention.{theirs}" for ours, theirs in PROJECTIONS.items()},
    "ff.up": "linear1", "ff.down": "linear2", "norm1": "ln1", "norm2": "ln2", "norm": "ln",
}  # fmt: skip


def sizes(config):
    demand(config, norm="layer", gated=False, eps=1e-5)
    if config.training and config.dropout:
        raise NotImplementedError("dropout of the weights")
    return config.embed_dim, config.num_heads, config.hidden_dim, 0.0, ACTIVATIONS[config.activation], config.norm_first


def encode_once(config, weights, x, mask):
    return filled(nn.TransformerEncoderLayer(*sizes(config)), weights)(x, mask)


def encode(config, weights, x, mask):
    return filled(nn.TransformerEncoder(config.num_layers, *sizes(config)), weights)(x, mask)


def encoding(run, weights, config):
    def forward(x, *, key_mask=None, attn_mask=None):
        mask = both(attn_mask, over_keys(key_mask))
        return run(weights, x, both(mask, earlier(x)) if config.causal else mask)

    return forward


def encoder_layer(config, weights):
    sizes(config)
    return encoding(through_mlx(encode_once, config), renamed(weights, LAYER), config)


def encoder(config, weights):
    sizes(config)
    state = stacked(weights, lambda layer: renamed(layer, LAYER)) | renamed(weights, {"norm": "ln"})
    return encoding(through_mlx(encode, config), state, config)


COMMON = {"fully-masked-row": "mean", "causal-alignment": "bottom-right", "returned-weights": "none"}
IN_LAYERS = {"norm-order": "both", "norm-kind": "layer", "gated": "no", "biases": "none", "layer-bias": "yes"}
variants = {
    "half": {
        "attention": attention, "multi_head_attention": multi_head_attention, "rotary": make_rotary(False),
        "sinusoidal": make_sinusoidal(False), "alibi": alibi, "layer_norm": layer_norm, "rms_norm": rms_norm,
        "encoder_layer": encoder_layer, "encoder": encoder,
        "declares": {
            **COMMON, "rope-pairing": "half", "sinusoidal-output": "table", "sinusoidal-layout": "halves",
            "sinusoidal-frequencies": "endpoint", "alibi-slopes": "published", "rms-norm-weight": "plain",
            "rms-norm-cast": "before", "encoder_layer": IN_LAYERS,
            "encoder": {**IN_LAYERS, "final-norm": "always"},
        },
    },
    "interleaved": {
        "rotary": make_rotary(True), "sinusoidal": make_sinusoidal(True),
        "declares": {
            "rope-pairing": "interleaved", "sinusoidal-output": "table", "sinusoidal-layout": "halves-cos-first",
            "sinusoidal-frequencies": "endpoint",
        },
    },
}  # fmt: skip
