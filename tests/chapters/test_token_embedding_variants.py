"""Different is not wrong: embeddings and attention over them, in every declared variant, conform."""

import math
from itertools import product

import pytest
import torch
from test_sinusoidal_variants import Table, failed
from torch import nn

from attnconf.adapters.contract import CONVENTIONS, SinusoidalConfig
from attnconf.adapters.kit.bind import bind

torch.set_num_threads(1)

SCALES, PADDINGS = CONVENTIONS["embedding-scale"], CONVENTIONS["padding-row"]
PLACES = list(product(CONVENTIONS["sinusoidal-layout"], CONVENTIONS["sinusoidal-frequencies"]))


def rows(dim, ids, table, scale):
    return table(ids) * (math.sqrt(dim) if scale == "sqrt" else 1.0)


def modules(scale, padding):
    """Return nn.Embedding, with zeros written over the padding where that is declared."""

    def token_embedding(config, weights):
        made = bind(nn.Embedding(config.vocab_size, config.dim, config.padding_id), {"weight": weights["table.weight"]})

        def forward(ids):
            out = rows(config.dim, ids, made, scale)
            return (
                out if padding == "stored" or config.padding_id is None else out * (ids != config.padding_id)[..., None]
            )

        return forward

    return token_embedding


@pytest.mark.parametrize(("scale", "padding"), list(product(SCALES, PADDINGS)))
def test_every_declared_variant_conforms(scale, padding):
    assert not failed("token_embedding", modules(scale, padding), {"embedding-scale": scale, "padding-row": padding})


@pytest.mark.parametrize("padding", PADDINGS)
def test_what_the_padding_gets_may_be_left_to_be_observed(padding):
    assert not failed("token_embedding", modules("none", padding), {})


@pytest.mark.parametrize("scale", SCALES)
def test_another_scale_than_declared_does_not_conform(scale):
    other = {"none": "sqrt", "sqrt": "none"}[scale]
    assert failed("token_embedding", modules(scale, "stored"), {"embedding-scale": other})


def test_twice_the_root_does_not_conform():
    def twice(config, weights):
        once = modules("sqrt", "stored")(config, weights)
        return lambda ids: math.sqrt(config.dim) * once(ids)

    assert failed("token_embedding", twice, {"embedding-scale": "sqrt"})["EMB-SCALE-1"].startswith("fail")


def test_one_hot_vectors_times_the_table_conform():
    """Without a padding; what is refused, nn.functional.one_hot refuses."""

    def token_embedding(config, weights):
        if config.padding_id is not None:
            raise NotImplementedError("padding_id")
        table = weights["table.weight"]
        return lambda ids: nn.functional.one_hot(ids, config.vocab_size).to(table.dtype) @ table

    got = failed("token_embedding", token_embedding, {}, EMB_PAD_1="unsupported", EMB_PAD_2="unsupported",
                 EMB_PAD_3="unsupported")  # fmt: skip
    assert set(got) <= {"EMB-INT-1", "CALL-EMPTY-1"}  # int64 only; no largest of nothing


class Pipeline(nn.Module):
    """nn.Embedding, a table of positions in float32, nn.MultiheadAttention."""

    def __init__(self, config, scale, layout, frequencies):
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, config.dim)
        self.places = Table(SinusoidalConfig(config.dim, config.max_len), "add", layout, frequencies)
        self.attention = nn.MultiheadAttention(config.dim, config.num_heads, bias=config.bias, batch_first=True)
        self.scale, self.dim, self.causal = scale, config.dim, config.causal

    def forward(self, ids, key_mask=None):
        x = self.places(rows(self.dim, ids, self.table, self.scale))
        later = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).triu(1)
        pads = None if key_mask is None else ~key_mask
        return self.attention(
            x, x, x, attn_mask=later if self.causal else None, key_padding_mask=pads, need_weights=False
        )[0]


def pipeline(scale, layout, frequencies, causal=None, bias=None):
    """Return a component that is always causal, or has no biases, where that is said."""

    def token_attention(config, weights):
        if causal not in (None, config.causal) or bias not in (None, config.bias):
            raise NotImplementedError(f"causal {config.causal}, bias {config.bias}")
        own = {name.removeprefix("attn."): w for name, w in weights.items()}
        state = {"table.weight": weights["table.weight"], "attention.out_proj.weight": own["out.weight"]}
        state["attention.in_proj_weight"] = torch.cat([own[f"{name}.weight"] for name in "qkv"])
        if config.bias:
            state["attention.in_proj_bias"] = torch.cat([own[f"{name}.bias"] for name in "qkv"])
            state["attention.out_proj.bias"] = own["out.bias"]
        made = bind(Pipeline(config, scale, layout, frequencies).eval(), state)
        return lambda ids, *, key_mask=None: made(ids, key_mask)

    return token_attention


@pytest.mark.parametrize(("layout", "frequencies"), PLACES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_declared_pipeline_conforms(scale, layout, frequencies):
    declares = {"embedding-scale": scale, "sinusoidal-layout": layout, "sinusoidal-frequencies": frequencies}
    assert not failed("token_attention", pipeline(scale, layout, frequencies), declares)


def test_a_pipeline_that_is_always_causal_and_has_no_biases_conforms():
    declares = {"causality": "always", "layer-bias": "no"}
    assert not failed(
        "token_attention", pipeline("none", "interleaved", "paper", True, False), declares,
        EMB_SEEN_1="not-applicable",
    )  # fmt: skip


@pytest.mark.parametrize(("layout", "frequencies"), PLACES[1:])
def test_an_undeclared_pipeline_does_not_conform(layout, frequencies):
    assert failed("token_attention", pipeline("none", layout, frequencies), {})
