"""Different is not wrong: decoders in every declared manner, as modules in other styles, conform."""

import math
from itertools import product

import pytest
import torch
from test_sinusoidal_variants import outcomes
from torch import nn
from torch.nn import functional as F

from attnconf.adapters.contract import CONVENTIONS
from attnconf.adapters.kit.bind import bind
from attnconf.conformance.chapters.contents import all_checks

pytestmark = pytest.mark.long

torch.set_num_threads(1)

LAYER, STACK = "decoder_layer", "decoder"


def failed(component, build, declares, lacking=()):
    """Return what neither passed nor is not applicable; of those in ``lacking``, what is not unsupported."""
    return {
        name: got
        for name, got in outcomes(component, build, declares).items()
        if got not in (("unsupported",) if name in lacking else ("pass", "not-applicable"))
        and name != "CALL-EMPTY-1"  # a SHOULD, which view(B, -1, H, D) does not hold
    }


# -- torch's own layers


def named(name, heads):
    """Return torch's name for a weight, and which third of its fused projection the weight is, or None."""
    for ours, theirs in heads.items():
        if name.startswith(ours):
            part, kind = name.removeprefix(ours).split(".")
            return (
                (theirs + f"out_proj.{kind}", None)
                if part == "out"
                else (theirs + f"in_proj_{kind}", "qkv".index(part))
            )
    return name.replace("ff.up", "linear1").replace("ff.down", "linear2"), None


def state_for_torch(weights):
    """Return the weights by torch's names."""
    state, thirds = {}, {}
    for name, w in weights.items():
        prefix = name[: name.index(".", 7) + 1] if name.startswith("layers.") else ""
        heads = {"self.": "self_attn.", "cross.": "multihead_attn."}
        theirs, third = named(name.removeprefix(prefix), heads)
        if third is None:
            state[prefix + theirs] = w
        else:
            thirds.setdefault(prefix + theirs, [None] * 3)[third] = w
    return state | {name: torch.cat(three) for name, three in thirds.items()}


def torch_decoder(config, weights):
    """nn.TransformerDecoderLayer or nn.TransformerDecoder, with masks in torch's polarity, padding as such."""
    dtype = next(iter(weights.values())).dtype
    module = nn.TransformerDecoderLayer(
        config.embed_dim, config.num_heads, config.hidden_dim, config.dropout, config.activation, config.eps,
        batch_first=True, norm_first=config.norm_first, bias=config.bias, dtype=dtype,
    )  # fmt: skip
    if hasattr(config, "num_layers"):
        last = nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias, dtype=dtype) if config.final_norm else None
        module = nn.TransformerDecoder(module, config.num_layers, last)
    made = bind(module.train(config.training), state_for_torch(weights))

    def forward(x, memory, *, key_mask=None, memory_mask=None):
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return made(
            x, memory, tgt_mask=later,
            tgt_key_padding_mask=None if key_mask is None else ~key_mask,
            memory_key_padding_mask=None if memory_mask is None else ~memory_mask,
        )  # fmt: skip

    return forward


@pytest.mark.parametrize("component", [LAYER, STACK])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_torchs_own_decoder_conforms(component, activation):
    """But for a sample without memory, whose row torch makes NaN: that is declared, and does not reach the others."""
    assert not failed(component, torch_decoder, {"activation": activation, "fully-masked-row": "nan"})


@pytest.mark.parametrize("component", [LAYER, STACK])
def test_torchs_own_decoder_without_biases_conforms(component):
    assert not failed(component, torch_decoder, {"layer-bias": "no"})


# -- a decoder in another style: modules for the parts, one order only


class Norm(nn.Module):
    """Layer or RMS norm, in float32 at least, as T5 and Llama have it; ``plus`` is added to the weight."""

    def __init__(self, config, plus, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.embed_dim, dtype=dtype))
        if config.bias and config.norm == "layer":
            self.bias = nn.Parameter(torch.zeros(config.embed_dim, dtype=dtype))
        self.centred, self.eps, self.plus = config.norm == "layer", config.eps, plus

    def forward(self, x):
        wide = x.float() if x.dtype.itemsize == 2 else x
        wide = wide - wide.mean(-1, keepdim=True) if self.centred else wide
        out = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (out * (self.weight + self.plus) + getattr(self, "bias", 0.0)).to(x.dtype)


class Attention(nn.Module):
    """Heads by view and transpose; additive masks of the most negative number, as many libraries have them."""

    def __init__(self, config, scale, dtype):
        super().__init__()
        width = config.embed_dim
        for name in ("q", "k", "v", "out"):
            setattr(self, name, nn.Linear(width, width, bias=config.bias, dtype=dtype))
        self.heads, self.scale, self.drop = config.num_heads, scale, nn.Dropout(config.dropout)

    def forward(self, x, source, mask):
        B, L, width = x.shape
        q, k, v = (
            f(y).view(B, -1, self.heads, width // self.heads).transpose(1, 2)
            for f, y in ((self.q, x), (self.k, source), (self.v, source))
        )
        scores = torch.matmul(q, k.transpose(2, 3)) * self.scale
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = self.drop(F.softmax(scores, dim=-1))
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(B, L, width))


class FeedForward(nn.Module):
    def __init__(self, config, activated, dtype):
        super().__init__()
        for name, (rows, columns) in {
            "up": (config.hidden_dim, config.embed_dim),
            "down": (config.embed_dim, config.hidden_dim),
            **({"gate": (config.hidden_dim, config.embed_dim)} if config.gated else {}),
        }.items():
            setattr(self, name, nn.Linear(columns, rows, bias=config.bias, dtype=dtype))
        self.act = {
            "relu": F.relu, "gelu": F.gelu, "quick-gelu": lambda x: F.silu(1.702 * x) / 1.702, "silu": F.silu,
            "gelu-tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3)))),
        }[config.activation]  # fmt: skip
        self.activated, self.drop = activated, nn.Dropout(config.dropout)

    def forward(self, x):
        if not hasattr(self, "gate"):
            hidden = self.act(self.up(x))
        elif self.activated == "gate":
            hidden = self.act(self.gate(x)) * self.up(x)
        else:
            hidden = self.gate(x) * self.act(self.up(x))
        return self.down(self.drop(hidden))


class Layer(nn.Module):
    def __init__(self, config, manner, dtype):
        super().__init__()
        width = config.embed_dim // config.num_heads
        scale = 1.0 if manner.get("attention-scale") == "none" else width**-0.5
        plus = 1.0 if manner.get("rms-norm-weight") == "one-plus" else 0.0
        self.add_module("self", Attention(config, scale, dtype))
        self.cross = Attention(config, scale, dtype)
        self.ff = FeedForward(config, manner.get("glu-activated", "gate"), dtype)
        self.norm1, self.norm2, self.norm3 = (Norm(config, plus, dtype) for _ in range(3))
        self.first, self.drop = config.norm_first, nn.Dropout(config.dropout)

    def branch(self, x, norm, f):
        return x + self.drop(f(norm(x))) if self.first else norm(x + self.drop(f(x)))

    def forward(self, x, memory, mask, hidden):
        x = self.branch(x, self.norm1, lambda y: self.self(y, y, mask))
        x = self.branch(x, self.norm2, lambda y: self.cross(y, memory, hidden))
        return self.branch(x, self.norm3, self.ff)


class Stack(nn.Module):
    def __init__(self, config, manner, dtype):
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, manner, dtype) for _ in range(config.num_layers))
        if config.final_norm:
            self.norm = Norm(config, 1.0 if manner.get("rms-norm-weight") == "one-plus" else 0.0, dtype)

    def forward(self, x, memory, mask, hidden):
        for layer in self.layers:
            x = layer(x, memory, mask, hidden)
        return self.norm(x) if hasattr(self, "norm") else x


def modules(manner):
    def decoder(config, weights):
        dtype = next(iter(weights.values())).dtype
        kind = Stack if hasattr(config, "num_layers") else Layer
        made = bind(kind(config, manner, dtype).train(config.training), weights)

        def forward(x, memory, *, key_mask=None, memory_mask=None):
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
            if key_mask is not None:
                mask = mask & key_mask[:, None, None, :]
            return made(x, memory, mask, None if memory_mask is None else memory_mask[:, None, None, :])

        return forward

    return decoder


T5 = {"norm-order": "pre", "norm-kind": "rms", "layer-bias": "no", "attention-scale": "none", "final-norm": "always"}
BART = {"norm-order": "post", "activation": "gelu", "final-norm": "never"}
GATED = {"norm-kind": "rms", "layer-bias": "no", "activation": "silu", "gated": "yes"}
MANNERS = {
    "T5": T5,
    "T5 1.1": {**T5, "gated": "yes", "activation": "gelu-tanh"},
    "BART": BART,
    "Whisper": {"norm-order": "pre", "activation": "gelu", "final-norm": "always"},
    "Llama": {**GATED, "norm-order": "pre"},
    "Gemma": {**GATED, "rms-norm-weight": "one-plus", "activation": "gelu-tanh"},
    "gate after": {**GATED, "glu-activated": "up"},
    "rms with biases": {"norm-kind": "rms"},
    "gated layer norms": {"gated": "yes"},
}


@pytest.mark.parametrize(("manner", "component"), list(product(MANNERS, (LAYER, STACK))))
def test_every_declared_manner_conforms(manner, component):
    declares = MANNERS[manner]
    assert all(choice in CONVENTIONS[convention] for convention, choice in declares.items())
    assert not failed(component, modules(declares), {**declares, "fully-masked-row": "mean"})


def test_only_what_a_manner_excludes_is_not_applicable():
    found = outcomes(STACK, modules(BART), BART)
    assert {name for name, got in found.items() if got == "not-applicable"} == {
        "DEC-ZERO-1", "DEC-NORM-1", "DEC-FINAL-1",
    }  # fmt: skip
    found = outcomes(STACK, modules(T5), T5)
    assert {name for name, got in found.items() if got == "not-applicable"} == {
        "DEC-ZERO-2", "DEC-STACK-1", "DEC-TORCH-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("manner", "unsaid"), [("T5", "attention-scale"), ("Gemma", "rms-norm-weight"), ("gate after", "glu-activated")]
)
def test_a_manner_that_is_not_declared_does_not_conform(manner, unsaid):
    declares = {convention: choice for convention, choice in MANNERS[manner].items() if convention != unsaid}
    assert "DEC-ORACLE-1" in failed(LAYER, modules(MANNERS[manner]), declares)


# -- less than the contract offers


def test_a_decoder_without_padding_of_targets_conforms_but_for_that():
    def decoder(config, weights):
        made = modules({})(config, weights)

        def forward(x, memory, *, key_mask=None, memory_mask=None):
            if key_mask is not None:
                raise NotImplementedError("padding of targets")
            return made(x, memory, memory_mask=memory_mask)

        return forward

    lacking = {"DEC-PAD-1", "DEC-PAD-2"}
    assert lacking <= set(all_checks())
    assert not failed(LAYER, decoder, {}, lacking)


def test_a_decoder_without_dropout_conforms():
    def decoder(config, weights):
        return modules({})(type(config)(**{**vars(config), "dropout": 0.0}), weights)

    assert not failed(LAYER, decoder, {})
