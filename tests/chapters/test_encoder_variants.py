"""Different is not wrong: layers and stacks as they are found in the wild, each in its own manner, conform."""

import pytest
import torch
import torch.nn.functional as F
from test_sinusoidal_variants import outcomes
from torch import nn

from attnconf.adapters.kit.bind import bind

torch.set_num_threads(1)

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "quick-gelu": lambda x: x / (1 + torch.exp(-1.702 * x)),
    "silu": F.silu,
}
MASKS = ("ENC-PAD-1", "ENC-ALONE-1", "ENC-LENGTH-1", "ENC-EMPTY-1", "ENC-MODE-2", "ENC-GRAD-2")
COMPONENTS = ("encoder_layer", "encoder")
EXPLICIT = ("ENC-MASK-1", "ENC-MASK-2", "ENC-MASK-3")


def unsupported(*names):
    return dict.fromkeys(names, "unsupported")


class Rms(nn.Module):
    def __init__(self, width, eps, offset):
        super().__init__()
        self.weight, self.eps, self.offset = nn.Parameter(torch.ones(width)), eps, offset

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * (self.offset + self.weight)


class Attention(nn.Module):
    """As BERT has it, scores made small or not, with an additive mask; heads may be shared, queries and keys normed."""

    def __init__(self, config, scaled):
        super().__init__()
        width, head = config.embed_dim, config.embed_dim // config.num_heads
        self.shared = config.num_heads // (config.num_kv_heads or config.num_heads)
        self.q, self.out = (nn.Linear(width, width, bias=config.bias) for _ in range(2))
        self.k, self.v = (nn.Linear(width, width // self.shared, bias=config.bias) for _ in range(2))
        self.heads, self.scale = config.num_heads, head**-0.5 if scaled else 1.0
        self.dropout = nn.Dropout(config.dropout)
        self.wide = config.qk_norm_over == "width"
        if config.qk_norm == "rms":
            sizes = (width, width // self.shared) if self.wide else (head, head)
            self.q_norm, self.k_norm = (nn.RMSNorm(size, config.eps) for size in sizes)
        else:
            self.q_norm = self.k_norm = nn.Identity()

    def forward(self, x, bias):
        B, L, width = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        q, k = (self.q_norm(q), self.k_norm(k)) if self.wide else (q, k)
        q, k, v = (y.view(B, L, -1, width // self.heads).permute(0, 2, 1, 3) for y in (q, k, v))
        q, k = (q, k) if self.wide else (self.q_norm(q), self.k_norm(k))
        k, v = (y.unsqueeze(2).expand(-1, -1, self.shared, -1, -1).flatten(1, 2) for y in (k, v))
        weights = torch.softmax(q @ k.mT * self.scale + bias, dim=-1)
        return self.out((self.dropout(weights) @ v).permute(0, 2, 1, 3).reshape(B, L, width))


class Network(nn.Module):
    def __init__(self, config, gate_is_up):
        super().__init__()
        self.up = nn.Linear(config.embed_dim, config.hidden_dim, bias=config.bias)
        self.gate = nn.Linear(config.embed_dim, config.hidden_dim, bias=config.bias) if config.gated else None
        self.down = nn.Linear(config.hidden_dim, config.embed_dim, bias=config.bias)
        self.activation, self.gate_is_up = ACTIVATIONS[config.activation], gate_is_up
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        if self.gate is None:
            return self.down(self.dropout(self.activation(self.up(x))))
        activated, other = (self.up, self.gate) if self.gate_is_up else (self.gate, self.up)
        return self.down(self.dropout(self.activation(activated(x)) * other(x)))


class Layer(nn.Module):
    def __init__(self, config, declares):
        super().__init__()
        self.attn = Attention(config, declares.get("attention-scale") != "none")
        self.ff = Network(config, declares.get("glu-activated") == "up")
        self.norm1, self.norm2 = norm_of(config, declares), norm_of(config, declares)
        self.norm_first, self.dropout = config.norm_first, nn.Dropout(config.dropout)
        self.place = config.placement
        if self.place == "parallel":
            self.norm2 = None
        if self.place == "sandwich":
            self.norm1_out, self.norm2_out = norm_of(config, declares), norm_of(config, declares)

    def elsewhere(self, x, bias):
        if self.place == "output":
            x = x + self.dropout(self.norm1(self.attn(x, bias)))
            return x + self.dropout(self.norm2(self.ff(x)))
        if self.place == "sandwich":
            x = x + self.norm1_out(self.dropout(self.attn(self.norm1(x), bias)))
            return x + self.norm2_out(self.dropout(self.ff(self.norm2(x))))
        of_network = self.norm1 if self.norm2 is None else self.norm2
        return self.dropout(self.attn(self.norm1(x), bias)) + self.dropout(self.ff(of_network(x))) + x

    def forward(self, x, bias):
        if self.place:
            return self.elsewhere(x, bias)
        if self.norm_first:
            x = x + self.dropout(self.attn(self.norm1(x), bias))
            return x + self.dropout(self.ff(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attn(x, bias)))
        return self.norm2(x + self.dropout(self.ff(x)))


def norm_of(config, declares):
    if config.norm == "rms":
        return Rms(config.embed_dim, config.eps, 1.0 if declares.get("rms-norm-weight") == "one-plus" else 0.0)
    return nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias)


class Stack(nn.Module):
    def __init__(self, config, declares):
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, declares) for _ in range(config.num_layers))
        self.norm = norm_of(config, declares) if config.final_norm else None

    def forward(self, x, bias):
        for layer in self.layers:
            x = layer(x, bias)
        return x if self.norm is None else self.norm(x)


def additive(config, x, key_mask, attn_mask):
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
    seen = seen.tril() if config.causal else seen
    if key_mask is not None:
        seen = seen & key_mask[:, None, None, :]
    if attn_mask is not None:
        seen = seen & attn_mask
    return torch.zeros(seen.shape, dtype=x.dtype).masked_fill(~seen, torch.finfo(x.dtype).min)


def model(declares, masks=("key_mask", "attn_mask")):
    """Return components in the manner of one model, which have nothing else."""

    def refuse(config):
        kinds = {
            "norm-kind": config.norm,
            "activation": config.activation,
            "gated": "yes" if config.gated else "no",
            "layer-bias": "yes" if config.bias else "no",
            "norm-order": config.placement or ("pre" if config.norm_first else "post"),
            "qk-norm": config.qk_norm,
        }
        for convention, kind in kinds.items():
            if declares.get(convention, "none") not in (kind, "both"):
                raise NotImplementedError(f"{convention} {kind}")
        if config.causal != (declares.get("causality") == "always"):
            raise NotImplementedError(f"causal {config.causal}")

    def component(kind):
        def build(config, weights):
            refuse(config)
            call = bind(kind(config, declares).train(config.training), weights)

            def forward(x, *, key_mask=None, attn_mask=None):
                for name, mask in (("key_mask", key_mask), ("attn_mask", attn_mask)):
                    if mask is not None and name not in masks:
                        raise NotImplementedError(name)
                return call(x, additive(config, x, key_mask, attn_mask))

            return forward

        return build

    return {"encoder_layer": component(Layer), "encoder": component(Stack)}


MODELS = {
    "bert": (
        {"norm-order": "post", "activation": "gelu", "final-norm": "never"},
        ("key_mask", "attn_mask"),
        unsupported("ENC-CAUSAL-1"),
    ),
    "vit": (
        {"norm-order": "pre", "activation": "gelu", "final-norm": "always"},
        (),
        unsupported("ENC-CAUSAL-1", "ENC-DEPTH-1", *MASKS, *EXPLICIT),
    ),
    "clip": (
        {"norm-order": "pre", "activation": "quick-gelu", "final-norm": "never"},
        ("attn_mask",),
        unsupported("ENC-CAUSAL-1", "ENC-MASK-3", *MASKS),
    ),
    "gpt-2": (
        {"norm-order": "pre", "activation": "gelu-tanh", "causality": "always", "final-norm": "always"},
        ("key_mask",),
        unsupported(*EXPLICIT),
    ),
    "llama": (
        {
            "norm-order": "pre", "norm-kind": "rms", "activation": "silu", "gated": "yes", "layer-bias": "no",
            "causality": "always", "final-norm": "always",
        },
        ("key_mask", "attn_mask"),
        {},
    ),
    "gemma": (
        {
            "norm-order": "pre", "norm-kind": "rms", "activation": "gelu-tanh", "gated": "yes", "layer-bias": "no",
            "causality": "always", "final-norm": "always", "rms-norm-weight": "one-plus", "glu-activated": "gate",
        },
        ("key_mask", "attn_mask"),
        {},
    ),
    "t5": (
        {
            "norm-order": "pre", "norm-kind": "rms", "activation": "relu", "layer-bias": "no",
            "attention-scale": "none", "final-norm": "always",
        },
        ("key_mask", "attn_mask"),
        unsupported("ENC-CAUSAL-1"),
    ),
    "gemma-2": (
        {
            "norm-order": "sandwich", "norm-kind": "rms", "activation": "gelu-tanh", "gated": "yes", "layer-bias": "no",
            "causality": "always", "final-norm": "always", "rms-norm-weight": "one-plus", "kv-heads": "grouped",
        },
        ("key_mask", "attn_mask"),
        {},
    ),
    "swin-2": (
        {"norm-order": "output", "activation": "gelu", "final-norm": "never"},
        (),
        unsupported("ENC-CAUSAL-1", "ENC-DEPTH-1", *MASKS, *EXPLICIT),
    ),
    "olmo-2": (
        {
            "norm-order": "output", "norm-kind": "rms", "activation": "silu", "gated": "yes", "layer-bias": "no",
            "causality": "always", "final-norm": "always", "qk-norm": "rms", "qk-norm-over": "width",
        },
        ("key_mask", "attn_mask"),
        {},
    ),
    "gpt-j": (
        {"norm-order": "parallel", "activation": "gelu-tanh", "causality": "always", "final-norm": "always"},
        ("key_mask", "attn_mask"),
        {},
    ),
    "gpt-neox": (
        {"norm-order": "parallel-two", "activation": "gelu", "causality": "always", "final-norm": "never"},
        ("key_mask", "attn_mask"),
        {},
    ),
    "qwen-3": (
        {
            "norm-order": "pre", "norm-kind": "rms", "activation": "silu", "gated": "yes", "layer-bias": "no",
            "causality": "always", "final-norm": "always", "qk-norm": "rms", "kv-heads": "grouped",
        },
        ("key_mask", "attn_mask"),
        {},
    ),
    "glu-up": (
        {"norm-order": "both", "activation": "silu", "gated": "yes", "glu-activated": "up"},
        ("key_mask", "attn_mask"),
        unsupported("ENC-CAUSAL-1"),
    ),
}  # fmt: skip
USUAL = {"norm-kind": "layer", "gated": "no", "layer-bias": "yes", "causality": "optional", "activation": "relu"}


def not_expected(component, build, declares, expected):
    """Return the outcomes that are neither expected, nor "pass", nor what does not apply."""
    got = outcomes(component, build, declares)
    return {
        name: outcome
        for name, outcome in got.items()
        if outcome != expected.get(name, "pass")
        and not (outcome == "not-applicable" and name not in expected)
        and name != "CALL-EMPTY-1"  # a SHOULD, which view(B, -1, H, D) does not hold
    }


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_conforms_in_its_own_manner(name, component):
    manner, masks, lacking = MODELS[name]
    declares = {**USUAL, **manner}
    bias = {"ENC-BIAS-1": "not-applicable" if declares["layer-bias"] == "no" else "unsupported"}
    assert not not_expected(component, model(declares, masks)[component], declares, {**bias, **lacking})


@pytest.mark.parametrize(
    ("name", "convention", "wrong"),
    [
        ("t5", "attention-scale", "sqrt"),
        ("gemma", "rms-norm-weight", "plain"),
        ("glu-up", "glu-activated", "gate"),
    ],
)
def test_a_manner_that_is_not_declared_does_not_conform(name, convention, wrong):
    declares = {**USUAL, **MODELS[name][0]}
    got = outcomes("encoder_layer", model(declares)["encoder_layer"], {**declares, convention: wrong})
    assert got["ENC-ORACLE-1"].startswith("fail")


# -- torch's own modules, as they come


def in_torch(config):
    if config.norm != "layer" or config.gated or config.activation not in ("relu", "gelu"):
        raise NotImplementedError("other norms, gates or activations")
    return nn.TransformerEncoderLayer(
        config.embed_dim, config.num_heads, config.hidden_dim, config.dropout, config.activation, config.eps,
        batch_first=True, norm_first=config.norm_first, bias=config.bias,
    )  # fmt: skip


def layer_state(weights, before=""):
    names = {"attn.out.": "self_attn.out_proj.", "ff.up.": "linear1.", "ff.down.": "linear2."}
    state = {}
    for kind in ("weight", "bias"):
        if f"attn.q.{kind}" in weights:
            state[f"{before}self_attn.in_proj_{kind}"] = torch.cat([weights[f"attn.{n}.{kind}"] for n in "qkv"])
    for name, w in weights.items():
        for ours, theirs in {**names, "norm1.": "norm1.", "norm2.": "norm2."}.items():
            if name.startswith(ours):
                state[before + theirs + name.removeprefix(ours)] = w
    return state


def torch_masks(config, x, key_mask, attn_mask):
    """Return torch's masks, True where a key is hidden."""
    B, L, _ = x.shape
    if config.causal:
        earlier = torch.ones(L, L, dtype=torch.bool).tril()
        attn_mask = earlier if attn_mask is None else attn_mask & earlier
    if attn_mask is not None and attn_mask.ndim == 4:
        attn_mask = attn_mask.expand(B, config.num_heads, L, L).flatten(0, 1)
    return None if attn_mask is None else ~attn_mask, None if key_mask is None else ~key_mask


def torch_layer(config, weights):
    call = bind(in_torch(config).train(config.training), layer_state(weights))

    def forward(x, *, key_mask=None, attn_mask=None):
        mask, padding = torch_masks(config, x, key_mask, attn_mask)
        return call(x, src_mask=mask, src_key_padding_mask=padding)

    return forward


def torch_stack(config, weights):
    last = nn.LayerNorm(config.embed_dim, config.eps, bias=config.bias) if config.final_norm else None
    module = nn.TransformerEncoder(in_torch(config), config.num_layers, last, enable_nested_tensor=False)
    state = {name: w for name, w in weights.items() if name.startswith("norm.")}
    for i in range(config.num_layers):
        before = f"layers.{i}."
        own = {name.removeprefix(before): w for name, w in weights.items() if name.startswith(before)}
        state |= layer_state(own, before)
    call = bind(module.train(config.training), state)

    def forward(x, *, key_mask=None, attn_mask=None):
        mask, padding = torch_masks(config, x, key_mask, attn_mask)
        return call(x, mask=mask, src_key_padding_mask=padding)

    return forward


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(("component", "build"), [("encoder_layer", torch_layer), ("encoder", torch_stack)])
def test_torchs_own_modules_conform_in_both_orders(component, build, activation):
    others = {"ENC-BIAS-1": "unsupported"}  # biases are declared
    assert not not_expected(component, build, {**USUAL, "activation": activation}, others)
