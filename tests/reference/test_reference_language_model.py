"""The reference's language model, proven by torch.nn, by NumPy and by complex numbers that share no code with it."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from attnconf.reference.encoder import Style
from attnconf.reference.language_model import Frame, language_model

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

B, L, E, H, F, V, N, LAYERS = 3, 5, 8, 2, 7, 11, 16, 2
PARTS = {"linear1": "ff.up", "linear2": "ff.down", "out_proj": "out", "self_attn": "attn"}
IDS = torch.tensor([[3, 0, 7, 7, 10], [1, 2, 3, 4, 5], [9, 9, 0, 1, 6]])


def random(*shape, seed):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def agree(got, want):
    torch.testing.assert_close(got, torch.as_tensor(want), atol=1e-12, rtol=1e-10)


class Stacked(nn.Module):
    """nn.Embedding, nn.TransformerEncoder with a causal mask, nn.Linear."""

    def __init__(self, norm_first, final, bias=False):
        super().__init__()
        layer = nn.TransformerEncoderLayer(E, H, F, 0.0, "gelu", norm_first=norm_first, batch_first=True)
        self.table, self.places = nn.Embedding(V, E), nn.Embedding(N, E)
        self.stack = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(E) if final else None)
        self.head = nn.Linear(E, V, bias=bias)
        self.double()
        generator = torch.Generator().manual_seed(0)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5, generator=generator)

    def forward(self, ids):
        x = self.table(ids) + self.places(torch.arange(ids.shape[1]))
        ahead = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        return self.head(self.stack(x, ahead))


def weights_of(model):
    ours = {"table.weight": model.table.weight, "positions.weight": model.places.weight}
    ours |= {f"head.{name}": p for name, p in model.head.named_parameters()}
    for name, tensor in model.stack.named_parameters():
        for theirs, part in PARTS.items():
            name = name.replace(theirs, part)
        if "in_proj_" in name:
            thirds = zip("qkv", tensor.chunk(3), strict=True)
            ours |= {name.replace("in_proj_", f"{part}."): third for part, third in thirds}
        else:
            ours[name] = tensor
    return ours


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("norm_first", "final"), [(False, False), (True, True)])
def test_it_is_torchs_encoder_between_a_table_and_a_head(norm_first, final, bias):
    model = Stacked(norm_first, final, bias)
    got = language_model(IDS, weights_of(model), Style(H, norm_first, activation="gelu"), Frame())
    agree(got, model(IDS))


def test_a_tied_table_learns_from_both_uses():
    model = Stacked(True, True)
    model.head.weight = model.table.weight
    cotangent = random(B, L, V, seed=3)
    (want,) = torch.autograd.grad((model(IDS) * cotangent).sum(), [model.table.weight])
    weights = {n: w.detach().requires_grad_() for n, w in weights_of(model).items() if n != "head.weight"}
    out = language_model(IDS, weights, Style(H, True, activation="gelu"), Frame())
    (got,) = torch.autograd.grad((out * cotangent).sum(), [weights["table.weight"]])
    agree(got, want)


# -- in NumPy, one id after the other


def rms(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain


def turned(x, place):
    """Return the heads (H, D) of one id, each pair of neighbours turned, as a complex number, by place · ω."""
    pairs = x.reshape(H, -1, 2)
    angle = place * 10000.0 ** (-np.arange(0, E // H, 2) / (E // H))
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)
    return np.stack([z.real, z.imag], -1).reshape(H, -1)


def llama(ids, w):
    """Return the logits (L, V) of one sample."""
    x = [w["table.weight"][i] for i in ids]
    for layer in range(LAYERS):
        own = {n.removeprefix(f"layers.{layer}."): v for n, v in w.items() if n.startswith(f"layers.{layer}.")}
        normed = [rms(v, own["norm1.weight"]) for v in x]
        q, k, v = ([own[f"attn.{part}.weight"] @ n for n in normed] for part in "qkv")
        q, k = ([turned(each, place) for place, each in enumerate(side)] for side in (q, k))
        for place in range(len(x)):
            heads = []
            for h in range(H):
                e = np.exp([q[place][h] @ k[s][h] / math.sqrt(E // H) for s in range(place + 1)])
                heads.append(sum(a * v[s].reshape(H, -1)[h] for s, a in enumerate(e / e.sum())))
            x[place] = x[place] + own["attn.out.weight"] @ np.concatenate(heads)
        for place, h in enumerate(x):
            n = rms(h, own["norm2.weight"])
            gate = own["ff.gate.weight"] @ n
            x[place] = h + own["ff.down.weight"] @ (gate / (1 + np.exp(-gate)) * (own["ff.up.weight"] @ n))
    return np.stack([w["head.weight"] @ rms(v, w["norm.weight"]) for v in x])


def llama_weights():
    sizes = {"table": (V, E), "head": (V, E), "norm": (E,)}
    for i in range(LAYERS):
        sizes |= {f"layers.{i}.attn.{part}": (E, E) for part in ("q", "k", "v", "out")}
        sizes |= {f"layers.{i}.ff.{part}": (F, E) for part in ("up", "gate")} | {f"layers.{i}.ff.down": (E, F)}
        sizes |= {f"layers.{i}.norm1": (E,), f"layers.{i}.norm2": (E,)}
    return {f"{n}.weight": random(*size, seed=i) / 2 for i, (n, size) in enumerate(sizes.items())}


LLAMA = Style(H, True, "rms", activation="silu", rotary=True)


def test_it_is_llama_by_hand():
    weights = llama_weights()
    got = language_model(IDS, weights, LLAMA, Frame(positions="none"))
    arrays = {name: w.numpy() for name, w in weights.items()}
    agree(got, np.stack([llama(sample.tolist(), arrays) for sample in IDS]))


def test_step_after_step_gives_what_one_pass_gives():
    weights = llama_weights()
    whole = language_model(IDS, weights, LLAMA, Frame(positions="none"))
    for length in range(1, L + 1):
        agree(language_model(IDS[:, :length], weights, LLAMA, Frame(positions="none")), whole[:, :length])


def test_rows_are_scaled_before_sines_are_added():
    """Without layers, and with a head of unit vectors, what comes out is what would go into layers."""
    table = random(V, E, seed=1)
    weights = {"table.weight": table, "head.weight": torch.eye(E, dtype=torch.float64)}
    out = language_model(IDS, weights, Style(H), Frame(positions="sinusoidal", scaled=True))
    for sample in range(B):
        for place in range(L):
            for j in range(E):
                angle = place / 10000 ** (2 * (j // 2) / E)
                sine = math.cos(angle) if j % 2 else math.sin(angle)
                want = math.sqrt(E) * float(table[IDS[sample, place], j]) + sine
                assert math.isclose(float(out[sample, place, j]), want, abs_tol=1e-12)


def test_a_cap_bounds_logits_and_leaves_small_ones():
    weights = llama_weights()
    plain, capped = (language_model(IDS, weights, LLAMA, Frame("none", softcap=c)) for c in (None, 1.0))
    agree(capped, np.tanh(plain.numpy()))
    assert float(capped.abs().max()) < 1 < float(plain.abs().max())


def test_padding_among_ids_is_not_seen_and_keeps_its_place():
    weights, mask = llama_weights(), torch.ones(B, L, dtype=torch.bool)
    mask[:, 1] = False
    other = IDS.clone()
    other[:, 1] = 8
    one, two = (language_model(ids, weights, LLAMA, Frame("none"), mask)[:, [0, 2, 3, 4]] for ids in (IDS, other))
    agree(one, two)
    assert not torch.allclose(one, language_model(IDS, weights, LLAMA, Frame("none"))[:, [0, 2, 3, 4]])


def test_ids_and_positions_without_a_row_are_refused():
    weights = {"table.weight": random(V, E, seed=1), "positions.weight": random(3, E, seed=2)}
    with pytest.raises(IndexError, match="ids from"):
        language_model(torch.tensor([[V]]), weights, Style(H), Frame())
    with pytest.raises(IndexError, match="positions must be"):
        language_model(IDS, weights, Style(H), Frame())
    with pytest.raises(TypeError, match="want integers"):
        language_model(IDS.double(), weights, Style(H), Frame())
