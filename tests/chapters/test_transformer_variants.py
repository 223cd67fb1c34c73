"""Different is not wrong: encoder-decoders and Transformers in many declared manners, in other styles, conform."""

import math

import pytest
import torch
from test_sinusoidal_variants import failed, outcomes
from torch import nn
from torch.nn import functional as F

from attnconf.adapters.kit.bind import bind

pytestmark = pytest.mark.long

torch.set_num_threads(1)

# -- as modules around nn.Transformer


class Translator(nn.Module):
    """nn.Transformer between embeddings and a head, with a table of positions in float32."""

    def __init__(self, config, scaled):
        super().__init__()
        E, V = config.embed_dim, config.vocab_size
        self.core, self.factor = core(config), math.sqrt(E) if scaled else 1.0
        self.target = nn.Embedding(V, E)
        self.source = self.target if config.tying == "all" else nn.Embedding(V, E)
        self.head = nn.Linear(E, V, bias=False)
        if config.tying != "none":
            self.head.weight = self.target.weight
        self.drop = nn.Dropout(config.dropout)
        position = torch.arange(config.max_len).unsqueeze(1)
        angles = position * torch.exp(torch.arange(0, E, 2) * (-math.log(10000.0) / E))
        self.register_buffer("table", torch.zeros(config.max_len, E), persistent=False)
        self.table[:, 0::2], self.table[:, 1::2] = torch.sin(angles), torch.cos(angles)

    def vectors(self, embedding, ids):
        return self.drop(embedding(ids) * self.factor + self.table[: ids.shape[1]].to(embedding.weight.dtype))

    def forward(self, source, target, **masks):
        x, y = self.vectors(self.source, source), self.vectors(self.target, target)
        return self.head(self.core(x, y, **masks))


def core(config):
    sizes = (config.embed_dim, config.num_heads, config.num_encoder_layers, config.num_decoder_layers)
    model = nn.Transformer(
        *sizes, config.hidden_dim, config.dropout, config.activation, layer_norm_eps=config.eps, batch_first=True,
        norm_first=config.norm_first,
    )  # fmt: skip
    model.encoder.enable_nested_tensor = model.encoder.use_nested_tensor = False
    return model


def masks_of(target, source_mask, target_mask):
    length = target.shape[1]
    hidden = None if source_mask is None else ~source_mask
    return {
        "tgt_mask": torch.ones(length, length, dtype=torch.bool).triu(1),
        "src_key_padding_mask": hidden,
        "memory_key_padding_mask": hidden,
        "tgt_key_padding_mask": None if target_mask is None else ~target_mask,
    }


NAMES = {".attn.": ".self_attn.", ".self.": ".self_attn.", ".cross.": ".multihead_attn.", ".out.": ".out_proj."}
NAMES |= {".ff.up.": ".linear1.", ".ff.down.": ".linear2.", ".q.": ".in_proj_"}


def state_of(weights, under=""):
    state = {}
    for name, w in weights.items():
        if name.startswith(("encoder.", "decoder.")) and not (".k." in name or ".v." in name):
            thirds = [weights[name.replace(".q.", f".{part}.")] for part in "qkv"] if ".q." in name else [w]
            for ours, theirs in NAMES.items():
                name = name.replace(ours, theirs)
            state[under + name] = torch.cat(thirds) if len(thirds) > 1 else w
        elif not under:
            continue
        elif name.count(".") == 1:
            state[name] = w
    return state


def in_torch(scaled):
    def encoder_decoder(config, weights):
        made = bind(core(config).train(config.training), state_of(weights))
        return lambda source, target, *, source_mask=None, target_mask=None: made(
            source, target, **masks_of(target, source_mask, target_mask)
        )

    def transformer(config, weights):
        made = bind(Translator(config, scaled).train(config.training), state_of(weights, "core."))
        return lambda source, target, *, source_mask=None, target_mask=None: made(
            source, target, **masks_of(target, source_mask, target_mask)
        )

    return {"encoder_decoder": encoder_decoder, "transformer": transformer}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("component", ["encoder_decoder", "transformer"])
@pytest.mark.parametrize("scale", ["sqrt", "none"])
@pytest.mark.parametrize("order", ["both", "post", "pre"])
def test_modules_around_torchs_conform(component, scale, order):
    declares = {"final-norm": "always", "transformer-scale": scale, "norm-order": order}
    build = in_torch(scale == "sqrt")[component]
    assert not failed(component, build, declares, TRF_FINAL_2="not-applicable")


# -- as functions, head by head, in all manners

ACTIVATIONS = {
    "relu": F.relu, "gelu": F.gelu, "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "quick-gelu": lambda x: x * torch.sigmoid(1.702 * x), "silu": F.silu,
}  # fmt: skip


class Model:
    """One call: configuration and weights, what is declared, and the layers as methods on names of weights."""

    def __init__(self, config, weights, declares):
        self.config, self.weights, self.declares = config, weights, declares

    def drop(self, x):
        return F.dropout(x, self.config.dropout, self.config.training)

    def linear(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def norm(self, x, name):
        weight, eps = self.weights[f"{name}.weight"], self.config.eps
        if self.config.norm == "layer":
            return F.layer_norm(x, x.shape[-1:], weight, self.weights.get(f"{name}.bias"), eps)
        weight = weight + 1 if self.declares.get("rms-norm-weight") == "one-plus" else weight
        wide = x.float() if x.element_size() < 4 else x
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).type_as(x) * weight

    def attend(self, x, memory, seen, name):
        heads = self.config.num_heads
        scale = 1.0 if self.declares.get("attention-scale") == "none" else (x.shape[-1] // heads) ** -0.5
        q, k, v = (
            self.linear(z, f"{name}.{part}").chunk(heads, -1) for z, part in ((x, "q"), (memory, "k"), (memory, "v"))
        )
        scores = [(a @ b.mT * scale).masked_fill(~seen, -torch.inf) for a, b in zip(q, k, strict=True)]
        mixed = [self.drop(s.softmax(-1)) @ c for s, c in zip(scores, v, strict=True)]
        return self.linear(torch.cat(mixed, -1), f"{name}.out")

    def network(self, x, name):
        activation = ACTIVATIONS[self.config.activation]
        up = self.linear(x, f"{name}.up")
        if not self.config.gated:
            hidden = activation(up)
        elif self.declares.get("glu-activated") == "up":
            hidden = activation(up) * self.linear(x, f"{name}.gate")
        else:
            hidden = up * activation(self.linear(x, f"{name}.gate"))
        return self.linear(self.drop(hidden), f"{name}.down")

    def branch(self, x, norm, sublayer):
        if self.config.norm_first:
            return x + self.drop(sublayer(self.norm(x, norm)))
        return self.norm(x + self.drop(sublayer(x)), norm)

    def stack(self, x, name, layers, branches):
        for i in range(layers):
            for n, (part, sublayer) in enumerate(branches, 1):
                under = f"{name}.layers.{i}"
                x = self.branch(x, f"{under}.norm{n}", lambda y, f=sublayer, at=f"{under}.{part}": f(y, at))
        return self.norm(x, f"{name}.norm") if self.config.final_norm else x

    def vectors(self, source, target, source_mask, target_mask):
        (B, S), L, config = source.shape[:2], target.shape[1], self.config
        real = torch.ones(B, 1, S, dtype=torch.bool) if source_mask is None else source_mask[:, None]
        kept = torch.ones(B, 1, L, dtype=torch.bool) if target_mask is None else target_mask[:, None]
        seen = kept & torch.ones(L, L, dtype=torch.bool).tril()
        own = [("attn", lambda y, at: self.attend(y, y, real, at)), ("ff", self.network)]
        memory = self.stack(source, "encoder", config.num_encoder_layers, own)
        across = [
            ("self", lambda y, at: self.attend(y, y, seen, at)),
            ("cross", lambda y, at: self.attend(y, memory, real, at)),
            ("ff", self.network),
        ]
        return self.stack(target, "decoder", config.num_decoder_layers, across)

    def placed(self, ids, table):
        E, half = table.shape[1], table.shape[1] // 2
        steps = half - 1 if self.declares.get("sinusoidal-frequencies") == "endpoint" else half
        angles = torch.arange(ids.shape[1])[:, None] * 10000.0 ** (-torch.arange(half) / max(steps, 1))
        layout = self.declares.get("sinusoidal-layout", "interleaved")
        waves = {"halves": (angles.sin(), angles.cos()), "halves-cos-first": (angles.cos(), angles.sin())}
        beside = torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)
        encoded = torch.cat(waves[layout], -1) if layout in waves else beside
        scale = 1.0 if self.declares.get("transformer-scale") == "none" else math.sqrt(E)
        return self.drop(F.embedding(ids, table) * scale + encoded.to(table.dtype))

    def logits(self, source, target, source_mask, target_mask):
        second = self.weights["target.weight"]
        first, head = (self.weights.get(f"{name}.weight", second) for name in ("source", "head"))
        x, y = self.placed(source, first), self.placed(target, second)
        return self.vectors(x, y, source_mask, target_mask) @ head.mT


def by_hand(component, declares):
    method = {"encoder_decoder": Model.vectors, "transformer": Model.logits}[component]

    def build(config, weights):
        model = Model(config, weights, declares)
        return lambda source, target, *, source_mask=None, target_mask=None: method(
            model, source, target, source_mask, target_mask
        )

    return build


MANNERS = {
    "paper": {"norm-order": "post", "final-norm": "never", "tying": "all"},
    "separate": {"norm-order": "pre", "final-norm": "always", "tying": "none", "activation": "gelu"},
    "unscaled": {
        "norm-order": "pre", "final-norm": "never", "tying": "head", "transformer-scale": "none",
        "attention-scale": "none", "sinusoidal-layout": "halves-cos-first",
    },
    "gated": {
        "norm-order": "both", "final-norm": "either", "tying": "any", "gated": "yes", "glu-activated": "up",
        "activation": "gelu-tanh", "sinusoidal-layout": "halves", "sinusoidal-frequencies": "endpoint",
    },
    "root-mean-square": {
        "norm-order": "pre", "final-norm": "always", "norm-kind": "rms", "rms-norm-weight": "one-plus",
        "layer-bias": "no", "gated": "yes", "activation": "silu",
    },
}  # fmt: skip


def inapplicable(component, declares):
    """Return the requirements that do not apply in a manner."""
    names = {"never": ["TRF_FINAL_1"], "always": ["TRF_FINAL_2"]}.get(declares["final-norm"], [])
    if component == "transformer":
        names = names + {"none": ["TRF_TIE_1", "TRF_TIE_2"], "head": ["TRF_HEAD_1"], "all": ["TRF_HEAD_1"]}.get(
            declares.get("tying"), []
        )
    return dict.fromkeys(names, "not-applicable")


@pytest.mark.parametrize("component", ["encoder_decoder", "transformer"])
@pytest.mark.parametrize("manner", MANNERS)
def test_every_manner_conforms(component, manner):
    declares = MANNERS[manner]
    assert not failed(component, by_hand(component, declares), declares, **inapplicable(component, declares))


@pytest.mark.parametrize(
    ("declared", "done", "broken"),
    [
        ({}, {"transformer-scale": "none"}, "TRF-SCALE-1"),
        ({"transformer-scale": "none"}, {}, "TRF-SCALE-1"),
        ({}, {"sinusoidal-layout": "halves"}, "TRF-POS-1"),
        ({"sinusoidal-frequencies": "endpoint"}, {}, "TRF-POS-1"),
        ({}, {"attention-scale": "none"}, "TRF-ORACLE-2"),
    ],
)
def test_what_is_not_as_declared_does_not_conform(declared, done, broken):
    assert outcomes("transformer", by_hand("transformer", done), declared)[broken].startswith("fail")


def test_without_target_padding_and_dropout_it_is_unsupported_and_not_wrong():
    def encoder_decoder(config, weights):
        forward = by_hand("encoder_decoder", {})(config, weights)

        def called(source, target, *, source_mask=None, target_mask=None):
            if target_mask is not None or (config.training and config.dropout):
                raise NotImplementedError("padding in the target, dropout")
            return forward(source, target, source_mask=source_mask)

        return called

    unsupported = dict.fromkeys(("TRF_CAUSAL_2", "TRF_PAD_3", "TRF_DROP_2"), "unsupported")
    assert not failed("encoder_decoder", encoder_decoder, {}, **unsupported)
