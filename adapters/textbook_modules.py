"""Norms, feed-forward, encoder, decoder and Transformer as nn.Modules, in the way that courses write them.

Parameters have the contract's names.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attnconf.adapters import bind

declares = {
    "norm-order": "both",
    "norm-kind": "layer",
    "final-norm": "either",
    "embedding-scale": "none",
    "transformer-scale": "sqrt",
    "tying": "any",
    "sinusoidal-output": "add",
    "sinusoidal-layout": "interleaved",
    "sinusoidal-frequencies": "paper",
    "sinusoidal-offset": "0",
}


class LayerNorm(nn.Module):
    """Over any trailing shape."""

    def __init__(self, shape, eps=1e-5, bias=True):
        super().__init__()
        self.axes = tuple(range(-len(shape), 0))
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape)) if bias else None

    def forward(self, x):
        if x.shape[x.ndim - len(self.axes) :] != self.weight.shape:  # a single feature would be stretched
            raise ValueError(f"x ends in {tuple(x.shape[self.axes[0] :])}, want {tuple(self.weight.shape)}")
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        centred = wide - wide.mean(self.axes, keepdim=True)
        y = centred * torch.rsqrt(centred.square().mean(self.axes, keepdim=True) + self.eps) * self.weight
        return (y if self.bias is None else y + self.bias).to(x.dtype)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden, activation, dropout, bias=True):
        super().__init__()
        self.up, self.down = nn.Linear(dim, hidden, bias=bias), nn.Linear(hidden, dim, bias=bias)
        self.activation, self.dropout = activation, nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.dropout(self.activation(self.up(x))))


class Attention(nn.Module):
    def __init__(self, dim, heads, dropout, bias=True):
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads do not divide a width of {dim}")
        self.heads, self.dropout = heads, nn.Dropout(dropout)
        self.q, self.k, self.v, self.out = (nn.Linear(dim, dim, bias=bias) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory, mask=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        out = self.dropout(scores.softmax(dim=-1)) @ v
        return self.out(out.transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden, activation, eps, dropout, norm_first, bias):
        super().__init__()
        self.attn = Attention(dim, heads, dropout, bias)
        self.ff = FeedForward(dim, hidden, activation, dropout, bias)
        self.norm1, self.norm2 = (LayerNorm((dim,), eps, bias) for _ in range(2))
        self.drop, self.norm_first = nn.Dropout(dropout), norm_first

    def forward(self, x, mask=None):
        if self.norm_first:
            h = self.norm1(x)
            x = x + self.drop(self.attn(h, h, mask))
            return x + self.drop(self.ff(self.norm2(x)))
        x = self.norm1(x + self.drop(self.attn(x, x, mask)))
        return self.norm2(x + self.drop(self.ff(x)))


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden, activation, eps, dropout, norm_first, bias):
        super().__init__()
        self.self = Attention(dim, heads, dropout, bias)
        self.cross = Attention(dim, heads, dropout, bias)
        self.ff = FeedForward(dim, hidden, activation, dropout, bias)
        self.norm1, self.norm2, self.norm3 = (LayerNorm((dim,), eps, bias) for _ in range(3))
        self.drop, self.norm_first = nn.Dropout(dropout), norm_first

    def forward(self, x, memory, mask, memory_mask=None):
        attend = self.self
        if self.norm_first:
            h = self.norm1(x)
            x = x + self.drop(attend(h, h, mask))
            x = x + self.drop(self.cross(self.norm2(x), memory, memory_mask))
            return x + self.drop(self.ff(self.norm3(x)))
        x = self.norm1(x + self.drop(attend(x, x, mask)))
        x = self.norm2(x + self.drop(self.cross(x, memory, memory_mask)))
        return self.norm3(x + self.drop(self.ff(x)))


class Stack(nn.Module):
    """Layers one after the other, each with parameters of its own, and a last norm where there is one."""

    def __init__(self, layers, norm=None):
        super().__init__()
        self.layers, self.norm = nn.ModuleList(layers), norm

    def forward(self, x, *others):
        for layer in self.layers:
            x = layer(x, *others)
        return x if self.norm is None else self.norm(x)


class Positions(nn.Module):
    """The sinusoidal table, as a buffer."""

    def __init__(self, dim, max_len=5000, base=10000.0, dropout=0.0):
        super().__init__()
        angle = torch.arange(max_len)[:, None] * torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
        table = torch.zeros(max_len, dim)
        table[:, 0::2] = angle.sin()
        table[:, 1::2] = angle.cos()[:, : dim // 2]
        self.register_buffer("table", table)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError(f"{x.shape[1]} tokens, but positions for {len(self.table)}")
        return self.dropout(x + self.table[: x.shape[1]])


class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, source, target, source_mask=None, target_mask=None):
        memory = self.encoder(source, over_keys(source_mask))
        seen = over_keys(target_mask, causal=target)
        return self.decoder(target, memory, seen, over_keys(source_mask))


class Transformer(EncoderDecoder):
    def __init__(self, encoder, decoder, vocabulary, dim, tying, max_len, dropout):
        super().__init__(encoder, decoder)
        self.dim, self.positions = dim, Positions(dim, max_len, dropout=dropout)
        self.target = nn.Embedding(vocabulary, dim)
        self.source = self.target if tying == "all" else nn.Embedding(vocabulary, dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        if tying != "none":
            self.head.weight = self.target.weight

    def place(self, ids, embedding):
        return self.positions(embedding(ids) * math.sqrt(self.dim))

    def forward(self, source, target, source_mask=None, target_mask=None):
        x, y = self.place(source, self.source), self.place(target, self.target)
        return self.head(super().forward(x, y, source_mask, target_mask))


class TokenAttention(nn.Module):
    """From ids to what tokens attend to."""

    def __init__(self, vocabulary, dim, heads, max_len):
        super().__init__()
        self.table, self.positions = nn.Embedding(vocabulary, dim), Positions(dim, max_len)
        self.attn = Attention(dim, heads, dropout=0.0)

    def forward(self, ids, mask=None):
        x = self.positions(self.table(ids))
        return self.attn(x, x, mask)


def over_keys(key_mask, attn_mask=None, causal=None):
    """Return one mask for attention, (…, L, S), of all that hides keys; ``causal``: the tokens, if in order."""
    mask = None if key_mask is None else key_mask[:, None, None, :]
    if attn_mask is not None:
        mask = attn_mask if mask is None else mask & attn_mask
    if causal is not None:
        square = torch.ones(causal.shape[1], causal.shape[1], dtype=torch.bool, device=causal.device).tril()
        mask = square if mask is None else mask & square
    return mask


def activation_of(name):
    known = {
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
        "quick-gelu": lambda x: x * torch.sigmoid(1.702 * x),
        "silu": F.silu,
        "sigmoid": torch.sigmoid,
        "none": lambda x: x,
    }
    return known[name]


def layers_of(kind, config, count):
    if config.norm != "layer" or config.gated:
        raise NotImplementedError("layers with another norm than LayerNorm, or with a gate")
    activation = activation_of(config.activation)
    sizes = (config.embed_dim, config.num_heads, config.hidden_dim)
    return [kind(*sizes, activation, config.eps, config.dropout, config.norm_first, config.bias) for _ in range(count)]


def stack_of(kind, config, count):
    norm = LayerNorm((config.embed_dim,), config.eps, config.bias) if config.final_norm else None
    return Stack(layers_of(kind, config, count), norm)


def layer_norm(config, weights):
    if not config.affine:
        raise NotImplementedError("a norm without gain")
    return bind(LayerNorm(config.shape, config.eps, config.bias), weights)


def feed_forward(config, weights):
    if config.gated:
        raise NotImplementedError("a gate")
    sizes, activation = (config.embed_dim, config.hidden_dim), activation_of(config.activation)
    return bind(FeedForward(*sizes, activation, config.dropout, config.bias).train(config.training), weights)


def run_encoder(module, config, weights):
    call = bind(module.train(config.training), weights)

    def forward(x, *, key_mask=None, attn_mask=None):
        return call(x, over_keys(key_mask, attn_mask, x if config.causal else None))

    return forward


def encoder_layer(config, weights):
    return run_encoder(*layers_of(EncoderLayer, config, 1), config, weights)


def encoder(config, weights):
    return run_encoder(stack_of(EncoderLayer, config, config.num_layers), config, weights)


def run_decoder(module, config, weights):
    call = bind(module.train(config.training), weights)

    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return call(x, memory, over_keys(key_mask, causal=x), over_keys(memory_mask))

    return forward


def decoder_layer(config, weights):
    return run_decoder(*layers_of(DecoderLayer, config, 1), config, weights)


def decoder(config, weights):
    return run_decoder(stack_of(DecoderLayer, config, config.num_layers), config, weights)


def both_stacks(config):
    return (
        stack_of(EncoderLayer, config, config.num_encoder_layers),
        stack_of(DecoderLayer, config, config.num_decoder_layers),
    )


def run_both(module, config, weights):
    call = bind(module.train(config.training), weights)

    def forward(source, target, *, source_mask=None, target_mask=None):
        return call(source, target, source_mask, target_mask)

    return forward


def encoder_decoder(config, weights):
    return run_both(EncoderDecoder(*both_stacks(config)), config, weights)


def transformer(config, weights):
    options = (config.vocab_size, config.embed_dim, config.tying, config.max_len, config.dropout)
    return run_both(Transformer(*both_stacks(config), *options), config, weights)


def token_embedding(config, weights):
    rows = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.padding_id)
    return bind(rows, {"weight": weights["table.weight"]})


def token_attention(config, weights):
    call = bind(TokenAttention(config.vocab_size, config.dim, config.num_heads, config.max_len), weights)

    def forward(ids, *, key_mask=None):
        return call(ids, over_keys(key_mask, causal=ids if config.causal else None))

    return forward


def sinusoidal(config, weights):
    module = Positions(config.dim, config.max_len, config.base, config.dropout).train(config.training)
    module = module.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        if positions is not None:
            raise NotImplementedError("explicit positions")
        return module(x)

    return forward
