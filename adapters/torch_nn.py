"""torch.nn: attention as PyTorch dispatches it, norms, embeddings, and the layers and stacks of nn.Transformer."""

import torch
import torch.nn.functional as F
from torch import nn

from attnconf.adapters import bind
from attnconf.adapters.kit.activations import QuickGELU, quick_gelu
from attnconf.adapters.kit.weight_names import both, demand, earlier, inside, renamed, stacked, under

__version__ = torch.__version__
declares = {
    "fully-masked-row": "zeros",
    "causal-alignment": "top-left",
    "attention": {"returned-weights": "none"},
    "multi_head_attention": {"returned-weights": "per-head"},
    "learned-output": "table",
    "learned-offset": "0",
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "embedding-scale": "none",
    "attention-scale": "sqrt",
    "norm-order": "both",
    "norm-kind": "layer",
    "gated": "no",
    "final-norm": "either",
    "encoder_decoder": {"final-norm": "always"},  # nn.Transformer's own encoder and decoder end in one
}


def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        mask = both(attn_mask, None if key_mask is None else key_mask[:, None, None, :])
        alone = config.causal and mask is None and attn_bias is None  # torch takes a mask or is_causal, not both
        if config.causal and not alone:
            mask = both(mask, torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril())
        mask = as_bias(mask, attn_bias)
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask if mask is None else mask[(None,) * (4 - mask.ndim)], is_causal=alone,
            dropout_p=config.dropout if config.training else 0.0, scale=config.scale,
        )  # fmt: skip

    return forward


def multi_head_attention(config, weights):
    if config.embed_dim % config.num_heads == 0 and config.head_dim * config.num_heads != config.embed_dim:
        raise NotImplementedError("heads whose widths do not add up to embed_dim")
    if config.out_dim != config.embed_dim:
        raise NotImplementedError("an output of another width than the query")
    like = weights["q.weight"]
    layer = nn.MultiheadAttention(
        config.embed_dim, config.num_heads, dropout=config.dropout, bias=config.bias, kdim=config.key_dim,
        vdim=config.value_dim, batch_first=True, device=like.device, dtype=like.dtype,
    ).train(config.training)  # fmt: skip
    call = bind(layer, in_torch_names(weights, fused=config.embed_dim == config.key_dim == config.value_dim))

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if config.causal and query.shape[1] != key.shape[1]:
            raise NotImplementedError("causal attention with L ≠ S: the caller brings the mask")
        alone = config.causal and attn_mask is None and attn_bias is None and key_mask is None
        if config.causal:
            square = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool, device=query.device).tril()
            attn_mask = both(attn_mask, square)
        mask = None if attn_mask is None and attn_bias is None else as_bias(attn_mask, attn_bias)
        out, attn = call(
            query, key, value, key_padding_mask=padding(key_mask, mask), is_causal=alone,
            attn_mask=in_torch_shape(mask, query, key, config.num_heads),
            need_weights=need_weights, average_attn_weights=False,
        )  # fmt: skip
        return (out, attn) if need_weights else out

    return forward


def learned(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    table = weights["table.weight"]
    call = bind(nn.Embedding(config.max_len, config.dim, device=table.device, dtype=table.dtype), {"weight": table})

    def forward(x, *, positions=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        return call(positions).expand(len(x), -1, -1)

    return forward


# -- layers

ACTIVATIONS = {
    "relu": nn.ReLU, "gelu": nn.GELU, "quick-gelu": QuickGELU, "silu": nn.SiLU, "sigmoid": nn.Sigmoid,
    "none": nn.Identity,
}  # fmt: skip
LAYER_ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "gelu-tanh": nn.GELU("tanh"), "quick-gelu": quick_gelu, "silu": F.silu,
}  # fmt: skip


def activation_of(config):
    return nn.GELU("tanh") if config.activation == "gelu-tanh" else ACTIVATIONS[config.activation]()


def layer_norm(config, weights):
    return bind(nn.LayerNorm(config.shape, config.eps, config.affine, config.bias), weights)


def rms_norm(config, weights):
    return bind(nn.RMSNorm(config.dim, config.eps), weights)


def feed_forward(config, weights):
    """Return what stands in nn.Transformer's layers; with a gate, nn.GLU, whose gate is the second half."""
    names = {"up": "0", "down": "3"}
    if not config.gated:
        first = nn.Linear(config.embed_dim, config.hidden_dim, config.bias), activation_of(config)
    elif config.activation == "sigmoid":
        first = nn.Linear(config.embed_dim, 2 * config.hidden_dim, config.bias), nn.GLU()
        kinds = ("weight", "bias") if config.bias else ("weight",)
        weights = {
            **weights,
            **{f"up.{kind}": torch.cat([weights[f"up.{kind}"], weights[f"gate.{kind}"]]) for kind in kinds},
        }
    else:
        raise NotImplementedError("a gate other than sigmoid")
    network = nn.Sequential(
        *first, nn.Dropout(config.dropout), nn.Linear(config.hidden_dim, config.embed_dim, config.bias)
    )
    return bind(network.train(config.training), renamed(weights, names))


def token_embedding(config, weights):
    table = weights["table.weight"]
    return bind(nn.Embedding(config.vocab_size, config.dim, config.padding_id), {"weight": table})


def options(config, weights):
    """Return the arguments that all layers, and nn.Transformer, take alike."""
    demand(config, norm="layer", gated=False)
    if config.activation not in LAYER_ACTIVATIONS:
        raise NotImplementedError(f"the activation {config.activation}")
    like = next(iter(weights.values()))
    return {
        "d_model": config.embed_dim, "nhead": config.num_heads, "dim_feedforward": config.hidden_dim,
        "dropout": config.dropout, "activation": LAYER_ACTIVATIONS[config.activation], "layer_norm_eps": config.eps,
        "norm_first": config.norm_first, "bias": config.bias, "batch_first": True,
        "device": like.device, "dtype": like.dtype,
    }  # fmt: skip


def make_stack(kind, layer, config, weights):
    last = nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias) if config.final_norm else None
    return kind(layer(**options(config, weights)), config.num_layers, last).train(config.training)


LAYER_NAMES = {"ff.up": "linear1", "ff.down": "linear2", "norm1": "norm1", "norm2": "norm2", "norm3": "norm3"}


def layer_state(weights):
    """Return the state of nn.TransformerEncoderLayer or nn.TransformerDecoderLayer."""
    state = renamed(weights, LAYER_NAMES)
    for ours, theirs in {"attn": "self_attn", "self": "self_attn", "cross": "multihead_attn"}.items():
        if f"{ours}.q.weight" in weights:
            state |= inside(theirs, in_torch_names(under(weights, ours), fused=True))
    return state


def stack_state(weights):
    """Return the state of nn.TransformerEncoder or nn.TransformerDecoder."""
    return stacked(weights, layer_state) | renamed(weights, {"norm": "norm"})


def encode(call, config):
    def forward(x, *, key_mask=None, attn_mask=None):
        mask = both(attn_mask, earlier(x)) if config.causal else attn_mask
        return call(x, in_torch_shape(mask, x, x, config.num_heads), src_key_padding_mask=padding(key_mask, mask))

    return forward


def encoder_layer(config, weights):
    layer = nn.TransformerEncoderLayer(**options(config, weights)).train(config.training)
    return encode(bind(layer, layer_state(weights)), config)


def encoder(config, weights):
    stack = make_stack(nn.TransformerEncoder, nn.TransformerEncoderLayer, config, weights)
    return encode(bind(stack, stack_state(weights)), config)


def decode(call):
    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return call(
            x, memory, tgt_mask=~earlier(x), tgt_key_padding_mask=padding(key_mask, None),
            memory_key_padding_mask=padding(memory_mask, None),
        )  # fmt: skip

    return forward


def decoder_layer(config, weights):
    layer = nn.TransformerDecoderLayer(**options(config, weights)).train(config.training)
    return decode(bind(layer, layer_state(weights)))


def decoder(config, weights):
    stack = make_stack(nn.TransformerDecoder, nn.TransformerDecoderLayer, config, weights)
    return decode(bind(stack, stack_state(weights)))


def encoder_decoder(config, weights):
    if not config.final_norm:
        raise NotImplementedError("an encoder and a decoder without a last norm")
    model = nn.Transformer(
        num_encoder_layers=config.num_encoder_layers, num_decoder_layers=config.num_decoder_layers,
        **options(config, weights),
    ).train(config.training)  # fmt: skip
    state = {}
    for part in ("encoder", "decoder"):
        state |= inside(part, stack_state(under(weights, part)))
    call = bind(model, state)

    def forward(source, target, *, source_mask=None, target_mask=None):
        hidden = padding(source_mask, None)
        return call(
            source, target, tgt_mask=~earlier(target), src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
            tgt_key_padding_mask=padding(target_mask, None),
        )  # fmt: skip

    return forward


# -- names, layouts and masks


def in_torch_names(weights, fused):
    """Return the state of nn.MultiheadAttention: one in_proj_weight where all widths are equal, else three."""
    state = {"out_proj.weight": weights["out.weight"]}
    if fused:
        state["in_proj_weight"] = torch.cat([weights["q.weight"], weights["k.weight"], weights["v.weight"]])
    else:
        state |= {f"{name}_proj_weight": weights[f"{name}.weight"] for name in "qkv"}
    if "q.bias" in weights:
        state["in_proj_bias"] = torch.cat([weights["q.bias"], weights["k.bias"], weights["v.bias"]])
        state["out_proj.bias"] = weights["out.bias"]
    return state


def as_bias(mask, bias):
    """Return one argument for torch's one attn_mask: boolean, or the bias with -inf where the mask is False."""
    if bias is None or mask is None:
        return mask if bias is None else bias
    return torch.where(mask, bias, float("-inf"))


def in_torch_shape(mask, query, key, heads):
    """Return a mask for nn.MultiheadAttention: (L, S) or (B·H, L, S); a boolean one True where a key is hidden."""
    if mask is None:
        return None
    mask = ~mask if mask.dtype == torch.bool else mask
    rows = (query.shape[1], key.shape[1])
    if mask.ndim <= 2:
        return mask.expand(rows)
    return mask.expand(query.shape[0], heads, *rows).reshape(-1, *rows)


def padding(key_mask, mask):
    """Return the key mask in torch's polarity, as floats where the other mask is, which torch wants alike."""
    if key_mask is None:
        return None
    if mask is None or mask.dtype == torch.bool:
        return ~key_mask
    return torch.zeros(key_mask.shape, dtype=mask.dtype, device=mask.device).masked_fill(~key_mask, float("-inf"))
