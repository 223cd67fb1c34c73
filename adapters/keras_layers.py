"""Keras on its torch backend: multi-head attention, norms, dense layers and embedding."""

import os

import torch

os.environ.setdefault("KERAS_BACKEND", "torch")  # Keras reads it when it is imported
import keras

from attnconf.adapters.kit.weight_names import both, demand, over_keys

__version__ = keras.__version__
if keras.backend.backend() != "torch":
    raise RuntimeError(f"Keras runs on {keras.backend.backend()}: KERAS_BACKEND must be torch before it is imported")
declares = {
    "fully-masked-row": "mean",
    "causal-alignment": "top-left",
    "returned-weights": "per-head",
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "embedding-scale": "none",
}


def bind(layer, *weights):
    """Return a callable that runs a layer that was built on these weights, in Keras's order and layout."""

    def call(*args, **kwargs):
        others = [variable.value for variable in layer.non_trainable_variables]
        return layer.stateless_call(list(weights), others, *args, **kwargs)[0]

    return call


def dtype_of(weights):
    return str(next(iter(weights.values())).dtype).removeprefix("torch.")


def multi_head_attention(config, weights):
    seed = int(torch.randint(2**31, ())) if config.training and config.dropout else None
    layer = keras.layers.MultiHeadAttention(
        config.num_heads, config.head_dim, config.head_dim, config.dropout, config.bias, config.out_dim, seed=seed,
        dtype=dtype_of(weights),
    )  # fmt: skip
    layer.build((None, None, config.embed_dim), (None, None, config.value_dim), (None, None, config.key_dim))
    ours = []
    for name in "qkv":  # kernels are (in, heads, width of a head)
        ours.append(weights[f"{name}.weight"].T.unflatten(1, (config.num_heads, config.head_dim)))
        ours += [weights[f"{name}.bias"].unflatten(0, (config.num_heads, -1))] if config.bias else []
    ours.append(weights["out.weight"].T.unflatten(0, (config.num_heads, config.head_dim)))
    call = bind(layer, *ours, *([weights["out.bias"]] if config.bias else []))

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        if attn_mask is not None:
            attn_mask = attn_mask[(None,) * (4 - attn_mask.ndim)]
            if attn_mask.shape[1] == 1:  # (B, L, S), as it is documented
                attn_mask = attn_mask[:, 0]
            else:  # a mask for each head goes through too, but not beside one of keys
                attn_mask, key_mask = both(attn_mask, over_keys(key_mask)), None
        return call(
            query, value, key, key_mask=key_mask, attention_mask=attn_mask, training=config.training,
            return_attention_scores=need_weights, use_causal_mask=config.causal,
        )  # fmt: skip

    return forward


def layer_norm(config, weights):
    axes = list(range(-len(config.shape), 0))

    def forward(x):
        layer = keras.layers.LayerNormalization(
            [x.ndim + axis for axis in axes], config.eps, config.affine and config.bias, config.affine,
            dtype=str(x.dtype).removeprefix("torch."),
        )  # fmt: skip
        layer.build(x.shape)
        return bind(layer, *(weights[name] for name in ("weight", "bias") if name in weights))(x)

    return forward


def rms_norm(config, weights):
    layer = keras.layers.RMSNormalization(epsilon=config.eps, dtype=dtype_of(weights))
    layer.build((None, config.dim))
    return bind(layer, weights["weight"])


ACTIVATIONS = {
    "relu": keras.activations.relu,
    "gelu": keras.activations.gelu,
    "gelu-tanh": lambda x: keras.activations.gelu(x, approximate=True),
    "quick-gelu": lambda x: x * keras.activations.sigmoid(1.702 * x),
    "silu": keras.activations.silu,
    "sigmoid": keras.activations.sigmoid,
    "none": keras.activations.linear,
}


def feed_forward(config, weights):
    demand(config, gated=False)
    options = {"use_bias": config.bias, "dtype": dtype_of(weights)}
    seed = int(torch.randint(2**31, ())) if config.training and config.dropout else None
    network = keras.Sequential(
        [
            keras.layers.Dense(config.hidden_dim, ACTIVATIONS[config.activation], **options),
            keras.layers.Dropout(config.dropout, seed=seed, dtype=options["dtype"]),
            keras.layers.Dense(config.embed_dim, **options),
        ]
    )
    network.build((None, None, config.embed_dim))
    ours = []
    for name in ("up", "down"):
        ours += [weights[f"{name}.weight"].T, *([weights[f"{name}.bias"]] if config.bias else [])]
    call = bind(network, *ours)
    return lambda x: call(x, training=config.training)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    layer = keras.layers.Embedding(config.vocab_size, config.dim, dtype=dtype_of(weights))
    layer.build()
    return bind(layer, weights["table.weight"])
