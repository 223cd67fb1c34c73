"""The encoder of the reference: against NumPy loops written from the formulas, and PyTorch's published numbers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from attnconf.reference.attention_family import Member
from attnconf.reference.encoder import Style, count_layers, encoder, encoder_layer, under
from attnconf.reference.masks import key_padding

torch.set_num_threads(1)

GOLDEN = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))["pytorch_encoder_layer"]
B, L, H, E, F, N = 2, 4, 3, 6, 5, 3
EPS = 1e-5


# -- one token and one head at a time, from the formulas


def norm(x, gain, shift):
    mean = sum(x) / len(x)
    variance = sum((v - mean) ** 2 for v in x) / len(x)
    return np.array([g * (v - mean) / math.sqrt(variance + EPS) + s for v, g, s in zip(x, gain, shift, strict=True)])


def of_one_length(tokens, gain):
    """Each piece of each token that is as wide as the gain, by the root of its mean square, times the gain."""
    pieces = tokens.reshape(len(tokens), -1, len(gain))
    return (pieces / np.sqrt((pieces**2).mean(-1, keepdims=True) + 1e-5) * gain).reshape(tokens.shape)


def attend(x, w, seen, shared=1, over=False, added=None):
    """x (L, E), seen (L, L); ``shared``: heads of queries for each of keys; ``over``: these are normed.

    ``added`` (L, L, H) is added to the scores.
    """
    added = np.zeros((len(x), len(x), H)) if added is None else added
    q, k, v = (np.array([w[f"attn.{n}.weight"] @ t + w[f"attn.{n}.bias"] for t in x]) for n in "qkv")
    width, out = E // H, []
    if over:
        q, k = (of_one_length(y, w[f"attn.{n}_norm.weight"]) for n, y in (("q", q), ("k", k)))
    own = [slice(h // shared * width, (h // shared + 1) * width) for h in range(H)]
    k, v = (np.concatenate([y[:, at] for at in own], axis=1) for y in (k, v))
    for i in range(len(x)):
        heads = []
        for h in range(H):
            at = slice(h * width, (h + 1) * width)
            scores = [q[i, at] @ k[j, at] / math.sqrt(width) + added[i, j, h] for j in range(len(x))]
            e = [math.exp(scores[j]) if seen[i, j] else 0.0 for j in range(len(x))]
            heads.append(sum(e[j] * v[j, at] for j in range(len(x))) / sum(e))
        out.append(w["attn.out.weight"] @ np.concatenate(heads) + w["attn.out.bias"])
    return np.array(out)


def network(t, w):
    hidden = np.maximum(w["ff.up.weight"] @ t + w["ff.up.bias"], 0)
    return w["ff.down.weight"] @ hidden + w["ff.down.bias"]


def layer(x, w, seen, norm_first, placement=None):
    def n(i, tokens):
        return np.array([norm(t, w[f"norm{i}.weight"], w[f"norm{i}.bias"]) for t in tokens])

    def f(tokens):
        return np.array([network(t, w) for t in tokens])

    if placement == "sandwich":
        h = x + n("1_out", attend(n(1, x), w, seen))
        return h + n("2_out", f(n(2, h)))
    if placement == "output":
        h = x + n(1, attend(x, w, seen))
        return h + n(2, f(h))
    if placement:
        return x + attend(n(1, x), w, seen) + f(n(1 if placement == "parallel" else 2, x))
    if norm_first:
        h = x + attend(n(1, x), w, seen)
        return h + np.array([network(t, w) for t in n(2, h)])
    h = n(1, x + attend(x, w, seen))
    return n(2, h + np.array([network(t, w) for t in h]))


def draw_layer(rng, before=""):
    shapes = {f"attn.{n}": (E, E) for n in ("q", "k", "v", "out")} | {"ff.up": (F, E), "ff.down": (E, F)}
    weights = {}
    for name, shape in shapes.items():
        weights[f"{before}{name}.weight"] = rng.normal(size=shape)
        weights[f"{before}{name}.bias"] = rng.normal(size=shape[0])
    for name in ("norm1", "norm2", "norm1_out", "norm2_out"):
        weights[f"{before}{name}.weight"], weights[f"{before}{name}.bias"] = rng.normal(size=E), rng.normal(size=E)
    return weights


def tensors(weights):
    return {name: torch.from_numpy(w) for name, w in weights.items()}


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_layer_is_the_formula_token_by_token(norm_first):
    rng = np.random.default_rng(7)
    w, x, seen = draw_layer(rng), rng.normal(size=(B, L, E)), rng.random((B, L, L)) < 0.6
    seen |= np.eye(L, dtype=bool)
    got = encoder_layer(torch.from_numpy(x), tensors(w), Style(H, norm_first), torch.from_numpy(seen)[:, None])
    want = np.stack([layer(x[b], w, seen[b], norm_first) for b in range(B)])
    np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("over", [None, "head", "width"])
@pytest.mark.parametrize("shared", [1, H])
def test_a_layer_with_shared_heads_and_normed_queries_is_its_formula(shared, over):
    rng = np.random.default_rng(12)
    w, x, seen = draw_layer(rng), rng.normal(size=(B, L, E)), rng.random((B, L, L)) < 0.6
    seen |= np.eye(L, dtype=bool)
    kept = E // shared
    w |= {f"attn.{n}.{kind}": w[f"attn.{n}.{kind}"][:kept] for n in "kv" for kind in ("weight", "bias")}
    widths = {None: (0, 0), "head": (E // H, E // H), "width": (E, kept)}[over]
    w |= {f"attn.{n}_norm.weight": rng.normal(size=size) for n, size in zip("qk", widths, strict=True)}
    member = Member(num_kv_heads=H // shared, qk_norm="rms" if over else "none", qk_norm_over=over or "head")
    got = encoder_layer(torch.from_numpy(x), tensors(w), Style(H, attention=member), torch.from_numpy(seen)[:, None])

    for b in range(B):
        attended = attend(x[b], w, seen[b], shared, over)
        h = np.array([norm(t, w["norm1.weight"], w["norm1.bias"]) for t in x[b] + attended])
        want = [norm(t + network(t, w), w["norm2.weight"], w["norm2.bias"]) for t in h]
        np.testing.assert_allclose(got[b].numpy(), np.array(want), rtol=0, atol=1e-12)


@pytest.mark.parametrize("placement", ["sandwich", "output", "parallel", "parallel-two"])
def test_a_layer_with_its_norms_elsewhere_is_its_formula(placement):
    rng = np.random.default_rng(11)
    w, x, seen = draw_layer(rng), rng.normal(size=(B, L, E)), rng.random((B, L, L)) < 0.6
    seen |= np.eye(L, dtype=bool)
    style = Style(H, placement=placement)
    got = encoder_layer(torch.from_numpy(x), tensors(w), style, torch.from_numpy(seen)[:, None])
    want = np.stack([layer(x[b], w, seen[b], False, placement) for b in range(B)])
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["vector", "scalar", "one-scalar"])
@pytest.mark.parametrize("placement", [None, "sandwich", "output", "parallel", "parallel-two"])
def test_factors_of_branches_are_those_of_larger_last_weights(kind, placement):
    rng = np.random.default_rng(13)
    w, x, seen = draw_layer(rng), rng.normal(size=(B, L, E)), np.ones((B, L, L), dtype=bool)
    size = E if kind == "vector" else 1
    scales = [rng.normal(size=size), rng.normal(size=size)]
    scales = scales[:1] * 2 if kind == "one-scalar" else scales
    given = {f"scale{i}.weight": s for i, s in enumerate(scales, 1)}
    last = {"sandwich": ("norm1_out", "norm2_out"), "output": ("norm1", "norm2")}.get(
        placement, ("attn.out", "ff.down")
    )
    larger = dict(w)
    for part, factor in zip(last, scales, strict=True):
        larger[f"{part}.weight"] = (w[f"{part}.weight"].T * factor).T
        larger[f"{part}.bias"] = w[f"{part}.bias"] * factor
    style = Style(H, norm_first=True, placement=placement, branch_scale=kind)
    got = encoder_layer(torch.from_numpy(x), tensors(w | given), style, torch.from_numpy(seen)[:, None])
    want = np.stack([layer(x[b], larger, seen[b], True, placement) for b in range(B)])
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-10)


def bucket_by_loop(offset, both_ways):
    """The bucket of key - query among 32: near distances apart, further ones by how often they can be scaled down."""
    start, count = (16 if offset > 0 else 0, 16) if both_ways else (0, 32)
    distance = abs(offset) if both_ways else max(0, -offset)
    exact, step = count // 2, 0
    if distance < exact:
        return start + distance
    while step < count - exact - 1 and distance >= exact * (128 / exact) ** ((step + 1) / (count - exact)) - 1e-9:
        step += 1
    return start + exact + step


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_relative_bias_is_that_of_every_layer(both_ways):
    rng = np.random.default_rng(14)
    length, table = 40, rng.normal(size=(32, H))
    x = rng.normal(size=(1, length, E))
    added = np.array([[table[bucket_by_loop(j - i, both_ways)] for j in range(length)] for i in range(length)])
    layers = [draw_layer(rng) for _ in range(2)]
    want = x[0]
    for w in layers:
        h = want + attend(np.array([norm(t, w["norm1.weight"], w["norm1.bias"]) for t in want]), w,
                          np.ones((length, length), dtype=bool), added=added)  # fmt: skip
        want = h + np.array([network(norm(t, w["norm2.weight"], w["norm2.bias"]), w) for t in h])
    given = {f"layers.{i}.{name}": w for i, layer_ in enumerate(layers) for name, w in layer_.items()}
    style = Style(H, norm_first=True, attention=Member(positions="relative-bias", both_ways=both_ways))
    got = encoder(torch.from_numpy(x), tensors(given | {"relative.weight": table}), style)
    np.testing.assert_allclose(got[0].numpy(), want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("final_norm", [False, True])
def test_a_stack_is_the_formula_layer_by_layer(norm_first, final_norm):
    rng = np.random.default_rng(8)
    layers = [draw_layer(rng) for _ in range(N)]
    weights = {f"layers.{i}.{name}": w for i, own in enumerate(layers) for name, w in own.items()}
    gain, shift = rng.normal(size=E), rng.normal(size=E)
    if final_norm:
        weights |= {"norm.weight": gain, "norm.bias": shift}
    x, seen = rng.normal(size=(1, L, E)), np.tril(np.ones((L, L), dtype=bool))
    y = x[0]
    for own in layers:
        y = layer(y, own, seen, norm_first)
    want = np.array([norm(t, gain, shift) for t in y]) if final_norm else y
    got = encoder(torch.from_numpy(x), tensors(weights), Style(H, norm_first), torch.from_numpy(seen))
    np.testing.assert_allclose(got[0].numpy(), want, rtol=0, atol=1e-11)


# -- published numbers


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("padded", [False, True])
def test_the_layer_of_pytorchs_own_tests(activation, padded):
    def cosines(*shape):
        return torch.arange(math.prod(shape), dtype=torch.float64).cos().view(shape)

    in_proj, in_bias = cosines(12, 4), cosines(12)
    weights = {f"attn.{n}.weight": in_proj[4 * i : 4 * i + 4] for i, n in enumerate("qkv")}
    weights |= {f"attn.{n}.bias": in_bias[4 * i : 4 * i + 4] for i, n in enumerate("qkv")}
    weights |= {"attn.out.weight": cosines(4, 4), "attn.out.bias": cosines(4)}
    weights |= {"ff.up.weight": cosines(16, 4), "ff.up.bias": cosines(16)}
    weights |= {"ff.down.weight": cosines(4, 16), "ff.down.bias": cosines(4)}
    weights |= {f"norm{i}.{kind}": cosines(4) for i in (1, 2) for kind in ("weight", "bias")}
    x = torch.tensor(GOLDEN["x"], dtype=torch.float64).transpose(0, 1)
    mask = key_padding(~torch.tensor(GOLDEN["padding"], dtype=torch.bool)) if padded else None
    out = encoder_layer(x, weights, Style(2, activation=activation), mask).transpose(0, 1)
    want = torch.tensor(GOLDEN[f"{activation}_padded" if padded else activation], dtype=torch.float64)
    torch.testing.assert_close(out, want, rtol=0, atol=1e-6)


# -- parts


def test_weights_of_a_part_go_by_their_names_within_it():
    weights = {"attn.q.weight": torch.ones(1), "attn.q.bias": torch.zeros(1), "attnq.weight": torch.ones(2)}
    assert set(under(weights, "attn")) == {"q.weight", "q.bias"}


def test_layers_are_counted_beyond_nine():
    weights = {f"layers.{i}.norm1.weight": torch.ones(1) for i in range(12)}
    assert count_layers({**weights, "norm.weight": torch.ones(1)}) == 12


def test_everything_is_dropped_with_probability_nearly_one():
    rng = np.random.default_rng(9)
    w, x = tensors(draw_layer(rng)), torch.from_numpy(rng.normal(size=(B, L, E)))
    assert torch.equal(encoder_layer(x, w, Style(H, norm_first=True, dropout=1 - 1e-12)), x)


def test_misfits_are_refused():
    w, x = tensors(draw_layer(np.random.default_rng(10))), torch.zeros(B, L, E, dtype=torch.float64)
    with pytest.raises(ValueError, match="cannot be split into 4 equal heads"):
        encoder_layer(x, w, Style(4))
    with pytest.raises(RuntimeError):
        encoder_layer(x[..., :-1], w, Style(1))
    with pytest.raises(KeyError, match="weight"):
        encoder_layer(
            x, under({f"some.{name}": t for name, t in w.items() if name != "norm2.weight"}, "some"), Style(H)
        )
