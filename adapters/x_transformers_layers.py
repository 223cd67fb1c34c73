"""x-transformers: norms, feed-forward networks, layers and stacks; in variants: pre-norm, post-norm, RMS norm and gate.

Its layers with RMS norm are left out: that norm has no ε, and ours always have one.
"""

from importlib.metadata import version

import torch
from torch import nn
from x_transformers import Decoder, Encoder
from x_transformers.x_transformers import FeedForward, RMSNorm, TokenEmbedding

from attnconf.adapters import bind
from attnconf.adapters.kit.activations import QuickGELU
from attnconf.adapters.kit.weight_names import demand, under

__version__ = version("x-transformers")

ACTIVATIONS = {
    "relu": nn.ReLU, "gelu": nn.GELU, "quick-gelu": QuickGELU, "silu": nn.SiLU, "sigmoid": nn.Sigmoid,
    "none": nn.Identity,
}  # fmt: skip


def activation_of(config):
    return nn.GELU("tanh") if config.activation == "gelu-tanh" else ACTIVATIONS[config.activation]()


def rms_norm(config, weights):
    """Return their norm, which has no ε: it divides by the norm itself, and by no less than 1e-12."""
    return bind(RMSNorm(config.dim), {"g": weights["weight"]})


def token_embedding(config, weights):
    demand(config, padding_id=None)
    return bind(TokenEmbedding(config.dim, config.vocab_size), {"emb.weight": weights["table.weight"]})


def wider(config):
    """Return the factor of the hidden width; they round down."""
    return (config.hidden_dim + 0.5) / config.embed_dim


def network_state(weights):
    """Return the state of FeedForward. With a gate, the first layer has a bias, always: zeros where ours has none."""
    up, gate = weights["up.weight"], weights.get("gate.weight")
    if gate is None:
        state = {"ff.0.0.weight": up, "ff.2.weight": weights["down.weight"]}
        biases = {"ff.0.0.bias": "up.bias", "ff.2.bias": "down.bias"}
        return state | {theirs: weights[ours] for theirs, ours in biases.items() if ours in weights}
    shifts = [weights.get(f"{name}.bias", up.new_zeros(len(up))) for name in ("up", "gate")]
    state = {"ff.0.proj.weight": torch.cat([up, gate]), "ff.0.proj.bias": torch.cat(shifts)}
    state["ff.2.weight"] = weights["down.weight"]
    return state | ({"ff.2.bias": weights["down.bias"]} if "down.bias" in weights else {})


def feed_forward(config, weights):
    network = FeedForward(
        config.embed_dim, mult=wider(config), glu=config.gated, custom_activation=activation_of(config),
        dropout=config.dropout, no_bias=not config.bias,
    )  # fmt: skip
    return bind(network.train(config.training), network_state(weights))


def make_stack(kind, config, layers, final_norm, **more):
    """Return their stack. Nothing in it has a bias."""
    demand(config, norm="layer", bias=False, eps=1e-5)
    if final_norm and not config.norm_first:
        raise NotImplementedError("a last norm after post-norm layers")
    return kind(
        dim=config.embed_dim, depth=layers, heads=config.num_heads, attn_dim_head=config.embed_dim // config.num_heads,
        norm_add_unit_offset=False, pre_norm=config.norm_first,
        pre_norm_has_final_norm=final_norm, ff_mult=wider(config), ff_no_bias=True, ff_glu=config.gated,
        ff_custom_activation=activation_of(config), attn_dropout=config.dropout, ff_dropout=config.dropout,
        attn_project_out=True, attn_sublayer_dropout=config.dropout, ff_sublayer_dropout=config.dropout, **more,
    ).train(config.training)  # fmt: skip


def block_state(config, weights, first):
    """Return the state of one of our layers, which is two of theirs, or three, from number ``first`` on."""
    parts = [name for name in ("attn", "self", "cross") if f"{name}.q.weight" in weights]
    place = 0 if config.norm_first else 2  # of the three norms that a block of theirs may have
    state = {}
    for i, part in enumerate([*parts, "ff"]):
        state[f"layers.{first + i}.0.{place}.gamma"] = weights[f"norm{i + 1}.weight"]
        inner = network_state(under(weights, "ff")) if part == "ff" else attention_state(under(weights, part))
        state |= {f"layers.{first + i}.1.{name}": w for name, w in inner.items()}
    return state


def attention_state(weights):
    return {f"to_{name}.weight": weights[f"{name}.weight"] for name in ("q", "k", "v", "out")}


def stack_state(config, weights, parts):
    state = {}
    for i in range(config.num_layers):
        state |= block_state(config, under(weights, f"layers.{i}"), parts * i)
    return state | ({"final_norm.gamma": weights["norm.weight"]} if config.final_norm else {})


def encode(call):
    def forward(x, *, key_mask=None, attn_mask=None):
        if attn_mask is not None and attn_mask.ndim < 2:
            attn_mask = attn_mask.expand(x.shape[1], x.shape[1])
        return call(x, mask=key_mask, attn_mask=attn_mask)

    return forward


def encoder_layer(config, weights):
    stack = make_stack(Decoder if config.causal else Encoder, config, 1, False)
    return encode(bind(stack, block_state(config, weights, 0)))


def encoder(config, weights):
    stack = make_stack(Decoder if config.causal else Encoder, config, config.num_layers, config.final_norm)
    return encode(bind(stack, stack_state(config, weights, 2)))


def decode(call):
    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return call(x, context=memory, mask=key_mask, context_mask=memory_mask)

    return forward


def decoder_layer(config, weights):
    stack = make_stack(Decoder, config, 1, False, cross_attend=True)
    return decode(bind(stack, block_state(config, weights, 0)))


def decoder(config, weights):
    stack = make_stack(Decoder, config, config.num_layers, config.final_norm, cross_attend=True)
    return decode(bind(stack, stack_state(config, weights, 3)))


LAYERS = {
    "feed_forward": feed_forward, "encoder_layer": encoder_layer, "encoder": encoder, "decoder_layer": decoder_layer,
    "decoder": decoder,
}  # fmt: skip
COMMON = {
    "layer-bias": "no", "norm-kind": "layer", "gated": "no", "fully-masked-row": "mean", "attention-scale": "sqrt",
}  # fmt: skip
variants = {
    "pre": {
        **LAYERS, "token_embedding": token_embedding, "declares": {
            **COMMON, "norm-order": "pre", "final-norm": "either", "activation": "gelu", "embedding-scale": "none",
        },
    },
    "post": {
        **LAYERS,
        "declares": {**COMMON, "norm-order": "post", "final-norm": "never", "activation": "relu"},
    },
    "rms": {
        "rms_norm": rms_norm, "feed_forward": feed_forward, "declares": {
            "layer-bias": "no", "gated": "yes", "glu-activated": "gate", "activation": "silu",
            "rms-norm-weight": "plain", "rms-norm-cast": "after",
        },
    },
}  # fmt: skip
