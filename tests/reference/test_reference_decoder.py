"""The reference's decoder against loops over plain numbers, torch's own, published numbers, and its own prefixes."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import nn

from attnconf.conformance.engine.case import draw
from attnconf.reference.decoder import decoder, decoder_layer
from attnconf.reference.encoder import Style
from attnconf.reference.masks import causal, intersect, key_padding

GOLDENS = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))
PARTS = ("self", "cross")
B, L, S, HEADS, WIDTH, HIDDEN = 2, 4, 3, 3, 6, 5
FIRST = pytest.mark.parametrize("norm_first", [False, True])


def layer_weights(what="w", width=WIDTH, hidden=HIDDEN, make=draw):
    """Return the weights of a layer; ``make(what, *shape)`` draws one."""
    shapes = {"ff.up": (hidden, width), "ff.down": (width, hidden)}
    shapes |= {f"{part}.{name}": (width, width) for part in PARTS for name in ("q", "k", "v", "out")}
    weights = {}
    for name, (rows, columns) in shapes.items():
        weights[f"{name}.weight"] = make(f"{what} {name} weight", rows, columns) * 0.7
        weights[f"{name}.bias"] = make(f"{what} {name} bias", rows) * 0.5
    for name in ("norm1", "norm2", "norm3"):
        weights[f"{name}.weight"] = 1 + 0.5 * make(f"{what} {name} weight", width)
        weights[f"{name}.bias"] = 0.5 * make(f"{what} {name} bias", width)
    return weights


def stack_weights(layers, final_norm):
    weights = {f"layers.{i}.{name}": w for i in range(layers) for name, w in layer_weights(f"layer {i}").items()}
    last = {"norm.weight": 1 + 0.5 * draw("last weight", WIDTH), "norm.bias": draw("last bias", WIDTH)}
    return weights | last if final_norm else weights


@pytest.fixture
def x():
    return draw("targets", B, L, WIDTH)


@pytest.fixture
def memory():
    return draw("memory", B, S, WIDTH)


# -- loops over plain numbers, from the formulas


def linear(x, weight, bias):
    return [sum(w * number for w, number in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def norm(x, gain, shift, eps=1e-5):
    mean = sum(x) / len(x)
    variance = sum((number - mean) ** 2 for number in x) / len(x)
    return [(n - mean) / math.sqrt(variance + eps) * g + s for n, g, s in zip(x, gain, shift, strict=True)]


def attend(queries, sources, weights, part, may):
    """Return the attention of each of the queries to those sources that ``may(t, s)`` allows."""
    w, width = {n.removeprefix(f"{part}."): y for n, y in weights.items() if n.startswith(part)}, WIDTH // HEADS
    out = []
    for t, query in enumerate(queries):
        q, merged = linear(query, w["q.weight"], w["q.bias"]), []
        seen = [source for s, source in enumerate(sources) if may(t, s)]
        keys = [linear(source, w["k.weight"], w["k.bias"]) for source in seen]
        values = [linear(source, w["v.weight"], w["v.bias"]) for source in seen]
        for h in range(HEADS):
            own = range(h * width, (h + 1) * width)
            e = [math.exp(sum(q[i] * key[i] for i in own) / math.sqrt(width)) for key in keys]
            merged += [sum(a * value[i] for a, value in zip(e, values, strict=True)) / sum(e) for i in own]
        out.append(linear(merged, w["out.weight"], w["out.bias"]))
    return out


def layer_by_loops(x, memory, weights, norm_first, real):
    """Return one sample's output as a list of tokens; ``real``: how many tokens of the memory there are."""

    def normed(tokens, i):
        return [norm(token, weights[f"norm{i}.weight"], weights[f"norm{i}.bias"]) for token in tokens]

    def think(token):
        hidden = linear(token, weights["ff.up.weight"], weights["ff.up.bias"])
        return linear([max(0.0, number) for number in hidden], weights["ff.down.weight"], weights["ff.down.bias"])

    branches = (
        lambda tokens: attend(tokens, tokens, weights, "self", lambda t, s: s <= t),
        lambda tokens: attend(tokens, memory, weights, "cross", lambda t, s: s < real),
        lambda tokens: [think(token) for token in tokens],
    )
    for i, branch in enumerate(branches, 1):
        more = branch(normed(x, i) if norm_first else x)
        x = [[a + b for a, b in zip(one, other, strict=True)] for one, other in zip(x, more, strict=True)]
        x = x if norm_first else normed(x, i)
    return x


@FIRST
def test_a_layer_by_loops(norm_first, x, memory):
    weights, lengths = layer_weights(), [S, S - 1]
    mask = key_padding(torch.arange(S) < torch.tensor(lengths)[:, None])
    out = decoder_layer(x, memory, weights, Style(HEADS, norm_first), causal(L, L), mask)
    plain = {name: w.tolist() for name, w in weights.items()}
    for b in range(B):
        want = layer_by_loops(x[b].tolist(), memory[b].tolist(), plain, norm_first, lengths[b])
        torch.testing.assert_close(out[b], torch.tensor(want, dtype=torch.float64), rtol=0, atol=1e-12)


# -- published numbers


def cosines(what, *shape):
    return torch.arange(math.prod(shape), dtype=torch.float64).cos().reshape(shape)


def published_weights():
    """Return weights that are the cosines of 0, 1, 2, … in the shapes of torch's parameters: q, k and v are one."""
    weights = {}
    for part in PARTS:
        for i, name in enumerate("qkv"):
            weights[f"{part}.{name}.weight"] = cosines("in", 12, 4)[4 * i : 4 * i + 4]
            weights[f"{part}.{name}.bias"] = cosines("in", 12)[4 * i : 4 * i + 4]
        weights |= {f"{part}.out.weight": cosines("out", 4, 4), f"{part}.out.bias": cosines("out", 4)}
    for name, rows, columns in (("ff.up", 16, 4), ("ff.down", 4, 16)):
        weights |= {f"{name}.weight": cosines("ff", rows, columns), f"{name}.bias": cosines("ff", rows)}
    for name in ("norm1", "norm2", "norm3"):
        weights |= {f"{name}.{kind}": cosines("norm", 4) for kind in ("weight", "bias")}
    return weights


def seen(padding):
    return None if padding is None else key_padding(torch.tensor(padding) == 0)


@pytest.mark.parametrize(
    "case", GOLDENS["pytorch_decoder_layer"]["cases"], ids=lambda c: f"{c['what']}, {c['activation']}"
)
def test_published_numbers(case):
    """Printed to six digits after the point, of which some are cut off instead of rounded."""
    x, memory = (torch.tensor(case[name], dtype=torch.float64).transpose(0, 1) for name in ("targets", "memory"))
    mask = intersect(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), seen(case["target_padding"]))
    style = Style(2, activation=case["activation"])
    out = decoder_layer(x, memory, published_weights(), style, mask, seen(case["memory_padding"]))
    want = torch.tensor(case["published"], dtype=torch.float64)
    torch.testing.assert_close(out.transpose(0, 1), want, rtol=0, atol=1e-6)


# -- torch


def load(module, weights):
    """Fill a decoder layer of torch with weights of the contract, one after the other."""
    with torch.no_grad():
        for name, attention in (("self", module.self_attn), ("cross", module.multihead_attn)):
            for i, part in enumerate("qkv"):
                rows = slice(i * WIDTH, (i + 1) * WIDTH)
                attention.in_proj_weight[rows] = weights[f"{name}.{part}.weight"]
                attention.in_proj_bias[rows] = weights[f"{name}.{part}.bias"]
        linears = {"ff.up": module.linear1, "ff.down": module.linear2}
        linears |= {"self.out": module.self_attn.out_proj, "cross.out": module.multihead_attn.out_proj}
        for name, part in {**linears, "norm1": module.norm1, "norm2": module.norm2, "norm3": module.norm3}.items():
            part.weight.copy_(weights[f"{name}.weight"])
            part.bias.copy_(weights[f"{name}.bias"])


def torch_layer(norm_first, activation="relu"):
    return nn.TransformerDecoderLayer(
        WIDTH, HEADS, HIDDEN, 0.0, activation, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )


@FIRST
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_layer_is_torchs(norm_first, activation, x, memory):
    weights, module = layer_weights(), torch_layer(norm_first, activation)
    load(module, weights)
    targets, tokens = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 0]]).bool(), torch.tensor([[1, 0, 1], [0, 1, 1]]).bool()
    want = module(
        x, memory, tgt_mask=~causal(L, L), tgt_key_padding_mask=~targets, memory_key_padding_mask=~tokens
    )  # fmt: skip
    mask = intersect(causal(L, L), key_padding(targets))
    out = decoder_layer(x, memory, weights, Style(HEADS, norm_first, activation=activation), mask, key_padding(tokens))
    torch.testing.assert_close(out, want, rtol=0, atol=1e-12)


@FIRST
@pytest.mark.parametrize("final_norm", [False, True])
def test_a_stack_is_torchs(norm_first, final_norm, x, memory):
    last = nn.LayerNorm(WIDTH, dtype=torch.float64) if final_norm else None
    weights, module = stack_weights(3, final_norm), nn.TransformerDecoder(torch_layer(norm_first), 3, last)
    for i, layer in enumerate(module.layers):
        load(layer, layer_weights(f"layer {i}"))
    if last is not None:
        with torch.no_grad():
            module.norm.weight.copy_(weights["norm.weight"])
            module.norm.bias.copy_(weights["norm.bias"])
    want = module(x, memory, tgt_mask=~causal(L, L))
    out = decoder(x, memory, weights, Style(HEADS, norm_first), causal(L, L))
    torch.testing.assert_close(out, want, rtol=0, atol=1e-12)


# -- closed forms and laws


@FIRST
def test_step_by_step_is_all_at_once(norm_first, x, memory):
    weights, style = stack_weights(2, True), Style(HEADS, norm_first)
    out = decoder(x, memory, weights, style, causal(L, L))
    for t in range(1, L + 1):
        step = decoder(x[:, :t], memory, weights, style, causal(t, t))
        torch.testing.assert_close(step[:, -1], out[:, t - 1], rtol=0, atol=1e-12)


def test_without_queries_the_mean_of_the_memory_is_added(x, memory):
    """Queries of 0 weigh all keys alike; with nothing else alive a pre-norm layer adds one vector to every target."""
    weights = layer_weights()
    for name in ("self.out", "ff.down", "cross.q"):
        weights |= {f"{name}.{kind}": torch.zeros_like(weights[f"{name}.{kind}"]) for kind in ("weight", "bias")}
    mean = memory.mean(dim=1) @ weights["cross.v.weight"].T + weights["cross.v.bias"]
    want = x + (mean @ weights["cross.out.weight"].T + weights["cross.out.bias"])[:, None]
    out = decoder_layer(x, memory, weights, Style(HEADS, norm_first=True), causal(L, L))
    torch.testing.assert_close(out, want, rtol=0, atol=1e-12)


def test_gradients_are_those_of_finite_differences(x, memory):
    weights = layer_weights()

    def layer(x, memory, key, up):
        own = {**weights, "cross.k.weight": key, "ff.up.weight": up}
        return decoder_layer(x, memory, own, Style(HEADS, activation="gelu"), causal(L, L))

    given = (x, memory, weights["cross.k.weight"], weights["ff.up.weight"])
    assert torch.autograd.gradcheck(
        layer, [y[:1].clone().requires_grad_() if y.ndim == 3 else y.clone().requires_grad_() for y in given]
    )


# -- misfits


def test_memory_of_another_width_is_refused(x, memory):
    with pytest.raises(RuntimeError):
        decoder_layer(x, memory[..., :-1], layer_weights(), Style(HEADS), causal(L, L))


def test_a_memory_for_another_batch_is_refused(x, memory):
    with pytest.raises(ValueError, match="leading axes differ"):
        decoder_layer(x, memory[:1], layer_weights(), Style(HEADS), causal(L, L))


def test_heads_that_do_not_divide_the_width_are_refused(x, memory):
    with pytest.raises(ValueError, match="cannot be split into 4 equal heads"):
        decoder_layer(x, memory, layer_weights(), Style(4), causal(L, L))


def test_a_missing_weight_is_named(x, memory):
    weights = layer_weights()
    del weights["norm3.weight"]
    with pytest.raises(KeyError, match="weight"):
        decoder_layer(x, memory, weights, Style(HEADS), causal(L, L))


def test_an_unknown_activation_is_refused(x, memory):
    with pytest.raises(ValueError, match="no activation 'tanh'"):
        decoder_layer(x, memory, layer_weights(), Style(HEADS, activation="tanh"), causal(L, L))
