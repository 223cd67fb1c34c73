"""curated-transformers: attention, rotary and sinusoidal positions, ALiBi, RMS norm, networks and encoder layers."""

from importlib.metadata import version

import torch
from curated_transformers.layers.activations import GELUNew
from curated_transformers.layers.attention import (
    AttentionHeads,
    AttentionLinearBiases,
    AttentionMask,
    QkvMode,
    QkvSplitGroupedByHead,
    ScaledDotProductAttention,
    SelfAttention,
)
from curated_transformers.layers.embeddings import QueryKeyRotaryEmbeddings, SinusoidalPositionalEmbedding
from curated_transformers.layers.feedforward import PointwiseFeedForward
from curated_transformers.layers.normalization import RMSNorm
from curated_transformers.layers.transformer import (
    DecoderLayer,
    EncoderLayer,
    TransformerDropouts,
    TransformerLayerNorms,
)
from torch import nn

from attnconf.adapters import bind
from attnconf.adapters.kit.activations import QuickGELU
from attnconf.adapters.kit.weight_names import both, demand, over_keys, renamed

__version__ = version("curated-transformers")
ACTIVATIONS = {
    "relu": nn.ReLU, "gelu": nn.GELU, "gelu-tanh": GELUNew, "quick-gelu": QuickGELU, "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid, "none": nn.Identity,
}  # fmt: skip


# -- attention


def one_mask(query, key, key_mask=None, attn_mask=None):
    """Return their mask, which is one of four axes, and never left out; causality is a flag beside it."""
    mask = both(attn_mask, over_keys(key_mask))
    if mask is None:
        mask = torch.ones(len(key), key.shape[-2], dtype=torch.bool, device=key.device)[:, None, None, :]
    return AttentionMask(mask[(None,) * (4 - mask.ndim)])


def attention(config, weights):
    demand(config, scale=None)
    if config.training and config.dropout:
        raise NotImplementedError("dropout of the weights")
    scorer = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        mask = one_mask(query, key, key_mask, attn_mask)
        return scorer(query=query, key=key, value=value, attention_mask=mask, use_causal_mask=config.causal)

    return forward


def attend_to_itself(config, heads, kv_heads, dropout):
    return SelfAttention(
        attention_heads=AttentionHeads.key_value_broadcast(
            n_query_heads=heads, n_key_value_heads=kv_heads, qkv_split=QkvSplitGroupedByHead()
        ),
        attention_scorer=ScaledDotProductAttention(dropout_prob=dropout, linear_biases=None),
        hidden_width=config.embed_dim, qkv_mode=QkvMode.SEPARATE, use_bias=config.bias,
    )  # fmt: skip


PROJECTIONS = {"q": "query", "k": "key", "v": "value", "out": "output"}


def multi_head_attention(config, weights):
    if {config.num_heads * config.head_dim, config.key_dim, config.value_dim, config.out_dim} != {config.embed_dim}:
        raise NotImplementedError("different widths")
    kv_heads = config.num_kv_heads or config.num_heads
    layer = attend_to_itself(config, config.num_heads, kv_heads, config.dropout).train(config.training)
    call = bind(layer, renamed(weights, PROJECTIONS))

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        if not (query is key and key is value):
            raise NotImplementedError("cross-attention")
        return call(query, one_mask(query, key, key_mask, attn_mask), use_causal_mask=config.causal)[0]

    return forward


# -- positions


def rotary(config, weights):
    demand(config, scaling=None)
    rounding = 0.5 if config.rotary_dim < config.head_dim else 0.0  # they round down
    share = (config.rotary_dim + rounding) / config.head_dim
    turn = QueryKeyRotaryEmbeddings(base=config.base, fraction=share, head_width=config.head_dim)
    turn.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        if positions is not None:
            positions = positions.expand(len(x), x.shape[-2]).contiguous()
        return turn(query=x, key=x, positions=positions)[0]

    return forward


def sinusoidal(config, weights):
    demand(config, base=10000.0)
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    module = SinusoidalPositionalEmbedding(width=config.dim, max_len=config.max_len, normalize=False)
    module.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        if positions is not None:
            raise NotImplementedError("explicit positions")
        return module(x[..., 0]).expand(x.shape)  # they return it once for all samples

    return forward


def alibi_biases(config):
    made = AttentionLinearBiases(n_attention_heads=config.num_heads, is_causal=config.causal, is_inverted=False)
    return made.to(config.device, config.dtype)


def alibi(config, weights):
    made = alibi_biases(config)

    def forward(query_length, key_length):
        if query_length != key_length:
            raise NotImplementedError("L ≠ S")
        scores = torch.zeros(1, config.num_heads, query_length, key_length, dtype=config.dtype, device=config.device)
        return made(attention_scores=scores)[0]

    return forward


def alibi_attention(config, weights):
    scorer = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=alibi_biases(config))

    def forward(query, key, value):
        mask = one_mask(query, key)
        return scorer(query=query, key=key, value=value, attention_mask=mask, use_causal_mask=config.causal)

    return forward


# -- norms, networks and layers


def rms_norm(config, weights):
    return bind(RMSNorm(config.dim, eps=config.eps), weights)


NETWORK = {"up": "intermediate", "gate": "gate", "down": "output"}


def network(config):
    return PointwiseFeedForward(
        activation=ACTIVATIONS[config.activation](), hidden_width=config.embed_dim, use_gate=config.gated,
        intermediate_width=config.hidden_dim, use_bias=config.bias,
    )  # fmt: skip


def feed_forward(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    return bind(network(config), renamed(weights, NETWORK))


def norm_of(config):
    if config.norm == "rms":
        return RMSNorm(config.embed_dim, eps=config.eps)
    return nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias)


def encoder_layer(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout of the weights and of hidden features")
    place = "input" if config.norm_first else "residual"
    norms = {f"{part}_{place}_layer_norm": norm_of(config) for part in ("attn", "ffn")}
    layer = (DecoderLayer if config.causal else EncoderLayer)(
        attention_layer=attend_to_itself(config, config.num_heads, config.num_kv_heads or config.num_heads, 0.0),
        feed_forward_layer=network(config), dropouts=TransformerDropouts(),
        layer_norms=TransformerLayerNorms(**norms), use_parallel_attention=False,
    )  # fmt: skip
    names = {"norm1": f"attn_{place}_layer_norm", "norm2": f"ffn_{place}_layer_norm"}
    names |= {f"attn.{ours}": f"mha.{theirs}" for ours, theirs in PROJECTIONS.items()}
    names |= {f"ff.{ours}": f"ffn.{theirs}" for ours, theirs in NETWORK.items()}
    call = bind(layer, renamed(weights, names))

    def forward(x, *, key_mask=None, attn_mask=None):
        return call(x, one_mask(x, x, key_mask, attn_mask))[0]

    return forward


variants = {
    "self": {
        "multi_head_attention": multi_head_attention,
        "profile": "self-attention-1",
        "declares": {
            "inputs": "self", "fully-masked-row": "mean", "causal-alignment": "bottom-right",
            "returned-weights": "none", "kv-heads": "grouped", "dropout-place": "output",
        },
    },
    "parts": {
        "attention": attention, "rotary": rotary, "sinusoidal": sinusoidal, "alibi": alibi,
        "alibi_attention": alibi_attention, "rms_norm": rms_norm, "feed_forward": feed_forward,
        "encoder_layer": encoder_layer,
        "declares": {
            "fully-masked-row": "mean", "causal-alignment": "bottom-right", "returned-weights": "none",
            "rope-pairing": "half", "sinusoidal-output": "table", "sinusoidal-layout": "interleaved",
            "alibi-slopes": "published", "rms-norm-weight": "plain", "rms-norm-cast": "before",
            "glu-activated": "gate", "encoder_layer": {"norm-order": "both", "kv-heads": "grouped"},
        },
    },
}  # fmt: skip
