"""timm: rotary positions in both pairings, sinusoidal positions on a grid, ViT's block, norms and networks."""

from functools import partial

import timm
import torch
from timm.layers import LayerNorm, Mlp, QuickGELU, RmsNorm, RotaryEmbedding, SwiGLU, apply_rot_embed
from timm.layers.pos_embed_sincos import build_sincos2d_pos_embed
from timm.models.vision_transformer import Block
from torch import nn

from attnconf.adapters import bind
from attnconf.adapters.kit.weight_names import both, demand, earlier, over_keys, renamed

__version__ = timm.__version__


def make_rotary(half):
    def rotary(config, weights):
        if config.rotary_dim != config.head_dim:
            raise NotImplementedError("features that do not turn")
        if config.scaling is not None:
            raise NotImplementedError("scaled frequencies")
        # its dim is that of two axes
        embedding = RotaryEmbedding(2 * config.head_dim, temperature=config.base, in_pixels=False, rotate_half=half)
        embedding.to(config.device, config.dtype)

        def forward(x, *, positions=None):
            if positions is not None:
                raise NotImplementedError("explicit positions")
            return apply_rot_embed(x, *embedding.get_embed([x.shape[-2]]), half=half)

        return forward

    return rotary


def sinusoidal_2d(config, weights):
    def forward(height, width):
        table = build_sincos2d_pos_embed(
            [height, width], config.dim, config.base, interleave_sin_cos=True, device=config.device, dtype=config.dtype
        )
        return table.unflatten(0, (height, width))

    return forward


# -- layers

ACTIVATIONS = {
    "relu": nn.ReLU, "gelu": nn.GELU, "gelu-tanh": partial(nn.GELU, "tanh"), "quick-gelu": QuickGELU,
    "silu": nn.SiLU, "sigmoid": nn.Sigmoid, "none": nn.Identity,
}  # fmt: skip


def layer_norm(config, weights):
    options = {"bias": config.bias} if config.affine else {}
    return bind(LayerNorm(config.shape, config.eps, config.affine, **options), weights)


def rms_norm(config, weights):
    return bind(RmsNorm(config.dim, config.eps), weights)


def make_feed_forward(kind, gated, names):
    def feed_forward(config, weights):
        demand(config, gated=gated)
        network = kind(
            config.embed_dim, config.hidden_dim, act_layer=ACTIVATIONS[config.activation], bias=config.bias,
            drop=(config.dropout, 0.0),
        )  # fmt: skip
        return bind(network.train(config.training), renamed(weights, names))

    return feed_forward


BLOCK = {
    "attn.out": "attn.proj", "ff.up": "mlp.fc1", "ff.down": "mlp.fc2", "norm1": "norm1", "norm2": "norm2",
}  # fmt: skip


def encoder_layer(config, weights):
    demand(config, norm_first=True, norm="layer", gated=False)
    ratio = (config.hidden_dim + 0.5) / config.embed_dim  # they round down
    block = Block(
        config.embed_dim, config.num_heads, ratio, config.bias,
        proj_bias=config.bias, proj_drop=config.dropout, attn_drop=config.dropout,
        act_layer=ACTIVATIONS[config.activation], norm_layer=partial(LayerNorm, eps=config.eps, bias=config.bias),
    ).train(config.training)  # fmt: skip
    kinds = ("weight", "bias") if config.bias else ("weight",)
    fused = {f"attn.qkv.{kind}": torch.cat([weights[f"attn.{part}.{kind}"] for part in "qkv"]) for kind in kinds}
    call = bind(block, renamed(weights, BLOCK) | fused)

    def forward(x, *, key_mask=None, attn_mask=None):
        mask = both(attn_mask, over_keys(key_mask))
        if mask is None:
            return call(x, is_causal=config.causal)
        mask = both(mask, earlier(x)) if config.causal else mask
        return call(x, attn_mask=mask[(None,) * (4 - mask.ndim)])

    return forward


variants = {
    "interleaved": {
        "rotary": make_rotary(False),
        "sinusoidal_2d": sinusoidal_2d,
        "declares": {"rope-pairing": "interleaved", "grid-axes": "height-first", "grid-layout": "halves"},
    },
    "half": {"rotary": make_rotary(True), "declares": {"rope-pairing": "half"}},
    "vit": {
        "layer_norm": layer_norm,
        "feed_forward": make_feed_forward(Mlp, False, {"up": "fc1", "down": "fc2"}),
        "encoder_layer": encoder_layer,
        "declares": {
            "norm-order": "pre", "norm-kind": "layer", "activation": "gelu", "gated": "no", "attention-scale": "sqrt",
            "fully-masked-row": "zeros",
        },
    },
    "swiglu": {
        "rms_norm": rms_norm,
        "feed_forward": make_feed_forward(SwiGLU, True, {"gate": "fc1_g", "up": "fc1_x", "down": "fc2"}),
        "declares": {
            "activation": "silu", "gated": "yes", "glu-activated": "gate", "rms-norm-weight": "plain",
            "rms-norm-cast": "after",
        },
    },
}  # fmt: skip
