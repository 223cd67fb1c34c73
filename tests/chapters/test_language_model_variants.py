"""Different is not wrong: language models in many declared manners, head by head, in another style, conform."""

import math

import pytest
import torch
from test_sinusoidal_variants import failed, outcomes
from test_transformer_variants import Model
from torch.nn import functional as F

torch.set_num_threads(1)


class Language(Model):
    """A language model; layers as in test_transformer_variants.py, rotation by complex numbers."""

    def turned(self, x):
        if not self.config.rotary:
            return x
        width = x.shape[-1]
        angle = self.places[..., None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        turn = torch.polar(torch.ones_like(angle, dtype=torch.float64), angle.double())
        halves = self.declares.get("rotary-inside") == "half"
        pairs = torch.stack(x.chunk(2, -1), -1) if halves else x.unflatten(-1, (-1, 2))
        out = torch.view_as_real(torch.view_as_complex(pairs.double().contiguous()) * turn)
        return (torch.cat(out.unbind(-1), -1) if halves else out.flatten(-2)).to(x)

    def attend(self, x, seen, name):
        heads = self.config.num_heads
        scale = 1.0 if self.declares.get("attention-scale") == "none" else (x.shape[-1] // heads) ** -0.5
        q, k, v = (self.linear(x, f"{name}.{part}").chunk(heads, -1) for part in "qkv")
        scores = [
            (self.turned(a) @ self.turned(b).mT * scale).masked_fill(~seen, torch.finfo(x.dtype).min)
            for a, b in zip(q, k, strict=True)
        ]
        mixed = [self.drop(s.softmax(-1)) @ c for s, c in zip(scores, v, strict=True)]
        return self.linear(torch.cat(mixed, -1), f"{name}.out")

    def placed(self, ids):
        table = self.weights["table.weight"]
        x = F.embedding(ids, table) * (math.sqrt(table.shape[1]) if self.config.scaled else 1.0)
        if self.config.positions == "learned":
            return self.drop(x + self.weights["positions.weight"][self.places])
        if self.config.positions == "none":
            return self.drop(x)
        half = table.shape[1] // 2
        angles = self.places[..., None] * 10000.0 ** (-torch.arange(half) / half)
        sines, cosines = angles.sin(), angles.cos()
        layout = self.declares.get("sinusoidal-layout", "interleaved")
        waves = {"halves": (sines, cosines), "halves-cos-first": (cosines, sines)}
        beside = torch.stack([sines, cosines], -1).flatten(-2)
        return self.drop(x + (torch.cat(waves[layout], -1) if layout in waves else beside).to(x))

    def logits(self, ids, key_mask):
        self.places = torch.arange(ids.shape[1])
        if self.declares.get("padded-positions") == "counted" and key_mask is not None:
            self.places = (key_mask.long().cumsum(1) - 1).clamp(min=0)
        seen = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        seen = seen if key_mask is None else seen & key_mask[:, None]
        x = self.placed(ids)
        for i in range(self.config.num_layers):
            at = f"layers.{i}"
            x = self.branch(x, f"{at}.norm1", lambda y, at=at: self.attend(y, seen, f"{at}.attn"))
            x = self.branch(x, f"{at}.norm2", lambda y, at=at: self.network(y, f"{at}.ff"))
        x = self.norm(x, "norm") if self.config.final_norm else x
        head = self.weights["table.weight" if self.config.tying == "head" else "head.weight"]
        out = F.linear(x, head, self.weights.get("head.bias"))
        cap = self.config.softcap
        return out if cap is None else torch.tanh(out / cap) * cap


def by_hand(declares):
    def build(config, weights):
        return lambda ids, *, key_mask=None: Language(config, weights, declares).logits(ids, key_mask)

    return build


MANNERS = {
    "GPT": {"norm-order": "post", "final-norm": "never", "tying": "head", "activation": "gelu-tanh"},
    "GPT-2": {"norm-order": "pre", "final-norm": "always", "tying": "head", "activation": "gelu-tanh"},
    "Llama": {
        "norm-order": "pre", "final-norm": "always", "tying": "none", "norm-kind": "rms", "layer-bias": "no",
        "gated": "yes", "activation": "silu", "added-positions": "none", "rotary-inside": "interleaved",
    },
    "Gemma 2": {
        "norm-order": "pre", "final-norm": "always", "tying": "head", "norm-kind": "rms", "layer-bias": "no",
        "rms-norm-weight": "one-plus", "gated": "yes", "activation": "gelu-tanh", "added-positions": "none",
        "rotary-inside": "half", "embedding-scale": "sqrt", "logit-cap": "30",
    },
    "OPT": {
        "norm-order": "pre", "final-norm": "always", "tying": "head", "activation": "relu",
        "padded-positions": "counted",
    },
    "Llama as it is padded on the left": {
        "norm-order": "pre", "final-norm": "always", "tying": "none", "norm-kind": "rms", "layer-bias": "no",
        "gated": "yes", "activation": "silu", "added-positions": "none", "rotary-inside": "half",
        "padded-positions": "counted",
    },
    "sines": {
        "norm-order": "both", "final-norm": "either", "tying": "any", "added-positions": "sinusoidal",
        "sinusoidal-layout": "halves", "head-bias": "yes",
    },
    "everything": {"tying": "any", "added-positions": "any", "head-bias": "any", "logit-cap": "given"},
    "no positions": {"norm-order": "pre", "final-norm": "never", "tying": "all", "added-positions": "none"},
}  # fmt: skip


def inapplicable(declares):
    """Return the requirements that do not apply in a manner."""
    names = {"never": ["LM_FINAL_1"], "always": ["LM_FINAL_2"]}.get(declares.get("final-norm"), [])
    names = names + {"none": ["LM_TIE_1", "LM_TIE_2"], "any": []}.get(declares["tying"], ["LM_HEAD_1"])
    names += [] if "head-bias" in declares else ["LM_HEAD_2"]
    return dict.fromkeys(names + ([] if "logit-cap" in declares else ["LM_CAP_1"]), "not-applicable")


@pytest.mark.parametrize("manner", MANNERS)
def test_every_manner_conforms(manner):
    declares = MANNERS[manner]
    assert not failed("language_model", by_hand(declares), declares, **inapplicable(declares))


HALF = {"added-positions": "none", "rotary-inside": "half"}


@pytest.mark.parametrize(
    ("declared", "done", "broken"),
    [
        ({"added-positions": "sinusoidal"}, {"sinusoidal-layout": "halves"}, "LM-POS-1"),
        (HALF, {**HALF, "rotary-inside": "interleaved"}, "LM-ORACLE-1"),
        ({}, {"attention-scale": "none"}, "LM-ORACLE-1"),
        ({}, {"padded-positions": "counted"}, "LM-ORACLE-1"),
        ({"padded-positions": "counted"}, {}, "LM-ORACLE-1"),
        ({**HALF, "padded-positions": "counted"}, HALF, "LM-ORACLE-1"),
    ],
)
def test_what_is_not_as_declared_does_not_conform(declared, done, broken):
    assert outcomes("language_model", by_hand(done), declared)[broken].startswith("fail")


def test_where_rotation_is_declared_and_none_is_done_the_order_does_not_matter():
    def build(config, weights):
        config = type(config)(**{**vars(config), "rotary": False})
        return lambda ids, *, key_mask=None: Language(config, weights, HALF).logits(ids, key_mask)

    assert outcomes("language_model", build, HALF)["LM-ORDER-1"].startswith("fail")


def test_without_padding_it_is_unsupported_and_not_wrong():
    def build(config, weights):
        forward = by_hand({})(config, weights)

        def called(ids, *, key_mask=None):
            if key_mask is not None:
                raise NotImplementedError("padding")
            return forward(ids)

        return called

    declares = {"tying": "none"}
    unsupported = dict.fromkeys(("LM_CAUSAL_2", "LM_PAD_1"), "unsupported")
    assert not failed("language_model", build, declares, **{**inapplicable(declares), **unsupported})
