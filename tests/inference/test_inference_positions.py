"""Classes and functions for positions, rotations, biases and coordinates that know nothing of us are bound by trial."""

from pathlib import Path

import pytest

from attnconf.conformance.engine.request import Unjudgeable
from attnconf.conformance.inference import Bound, bindings, infer
from attnconf.conformance.source import reader

SOURCES = {
    # name: (source, component, conventions, certified)
    "dropout second, add": (
        """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, dropout, max_len):
                super().__init__()
                self.drop = nn.Dropout(dropout)
                t = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
                self.register_buffer("pe", torch.stack([t.sin(), t.cos()], -1).flatten(1))
            def forward(self, x):
                return self.drop(x + self.pe[: x.size(1)])
        """,
        "sinusoidal", {}, "reference",
    ),
    "names that say nothing": (
        """
        def tabla(filas, ancho, k=10000.0):
            w = k ** (-torch.arange(0, ancho, 2).double() / ancho)
            a = torch.arange(filas).double()[:, None] * w
            return torch.cat([a.cos(), a.sin()], 1)
        """,
        "sinusoidal", {"sinusoidal-output": "table", "sinusoidal-layout": "halves-cos-first"}, "reference",
    ),
    "one sine for both": (
        """
        class PE(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.w = 10000.0 ** (-torch.arange(0, dim, 2) / dim)
            def forward(self, x):
                a = torch.arange(x.shape[1])[:, None] * self.w
                return x + torch.stack([a.sin(), a.sin()], -1).flatten(1)
        """,
        "sinusoidal", {}, "SIN-sines-only",
    ),
    "rows before the first": (
        """
        class Rows(nn.Module):
            def __init__(self, n, width):
                super().__init__()
                self.table = nn.Parameter(torch.randn(n + 2, width))
            def forward(self, x):
                return x + self.table[2 : x.shape[1] + 2]
        """,
        "learned", {"learned-offset": "2"}, "reference",
    ),
    "tables made elsewhere, sines first": (
        """
        def tables(dim, end):
            a = torch.outer(torch.arange(end).double(), 10000.0 ** (-torch.arange(0, dim, 2).double() / dim))
            return torch.cat([a, a], -1).sin(), torch.cat([a, a], -1).cos()
        def apply_rope(q, k, cos, sin):
            def turn(x):
                a, b = x.chunk(2, -1)
                return x * cos + torch.cat([-b, a], -1) * sin
            return turn(q), turn(k)
        """,
        "rotary", {"rope-pairing": "half"}, "reference",
    ),
    "cosines and sines exchanged": (
        """
        def tables(dim, end):
            a = torch.outer(torch.arange(end).double(), 10000.0 ** (-torch.arange(0, dim, 2).double() / dim))
            return torch.cat([a, a], -1).cos(), torch.cat([a, a], -1).sin()
        def apply_rope(x, cos, sin):
            a, b = x.chunk(2, -1)
            return x * sin + torch.cat([-b, a], -1) * cos
        """,
        "rotary", None, None,
    ),
    "slopes alone": (
        """
        def alibi_slopes(n_heads):
            return torch.tensor([2.0 ** (-8 * (h + 1) / n_heads) for h in range(n_heads)])
        """,
        "alibi", {}, None,
    ),
    "buckets in a config": (
        """
        class RelBias(nn.Module):
            def __init__(self, cfg):
                super().__init__()
                self.cfg, self.emb = cfg, nn.Embedding(cfg.num_buckets, cfg.num_heads)
            def forward(self, L):
                d = torch.arange(L)[None] - torch.arange(L)[:, None]
                n, e = self.cfg.num_buckets // 2, self.cfg.num_buckets // 4
                far = e + (torch.log(d.abs().clamp(min=1).double() / e)
                           / math.log(self.cfg.max_distance / e) * (n - e)).long()
                bucket = torch.where(d.abs() < e, d.abs(), far.clamp(max=n - 1)) + n * (d > 0)
                return self.emb(bucket).permute(2, 0, 1)[None]
        """,
        "relative_bias", {}, "reference",
    ),
    "input kept, times pi": (
        """
        def encode(coords, n_freqs):
            out = [coords]
            for k in range(n_freqs):
                out += [(2**k * math.pi * coords).sin(), (2**k * math.pi * coords).cos()]
            return torch.cat(out, -1)
        """,
        "fourier", {"fourier-factor": "pi", "fourier-input": "kept", "fourier-order": "frequency"}, "reference",
    ),
    "a projection in a buffer, turned": (
        """
        class RandomFeatures(nn.Module):
            def __init__(self, d, m, sigma):
                super().__init__()
                self.register_buffer("basis", sigma * torch.randn(d, m))
            def forward(self, x):
                a = 2 * math.pi * x @ self.basis.to(x.dtype)
                return torch.cat([a.sin(), a.cos()], -1)
        """,
        "random_fourier", {"random-fourier-order": "sin-first"}, "reference",
    ),
    "hidden layers of one width": (
        """
        class CoordNet(nn.Module):
            def __init__(self, num_freqs, hidden, n_layers, in_dim=2, out_dim=3):
                super().__init__()
                self.f = num_freqs
                sizes = [2 * in_dim * num_freqs] + [hidden] * n_layers + [out_dim]
                self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
            def forward(self, x):
                a = x[..., None] * 2.0 ** torch.arange(self.f)
                h = torch.cat([a.sin(), a.cos()], -1).flatten(1)
                for layer in self.layers[:-1]:
                    h = layer(h).relu()
                return self.layers[-1](h)
        """,
        "coordinate_mlp", {}, "reference",
    ),
    "a table that a function is handed": (
        """
        def t5_attention(query, key, value, table: torch.Tensor | None, max_distance=128, causal=False):
            L, S = query.shape[-2], key.shape[-2]
            d = torch.arange(S)[None] - torch.arange(L)[:, None]
            n = len(table) if causal else len(table) // 2
            back = (-d).clamp(min=0) if causal else d.abs()
            far = torch.log(back.clamp(min=1).double() / (n // 2)) / math.log(max_distance / (n // 2)) * (n - n // 2)
            bucket = torch.where(back < n // 2, back, (n // 2 + far.long()).clamp(max=n - 1))
            bias = 0 if table is None else table[bucket + (not causal) * n * (d > 0)].permute(2, 0, 1)
            scores = query @ key.mT + bias
            scores = scores.masked_fill(d > 0, float("-inf")) if causal else scores
            return scores.softmax(-1) @ value
        """,
        "relative_bias_attention", {}, "reference",
    ),
    "queries, keys and values in Portuguese": (
        """
        def atencao(consultas, chaves, valores):
            T, d = consultas.shape[-2:]
            z = torch.polar(torch.ones(T, d // 2, dtype=torch.double),
                            torch.outer(torch.arange(T).double(), 10000.0 ** (-torch.arange(0, d, 2).double() / d)))
            def girar(x):
                pares = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
                return torch.view_as_real(pares * z).flatten(-2).to(x.dtype)
            notas = girar(consultas) @ girar(chaves).mT / d**0.5
            return notas.softmax(-1) @ valores
        """,
        "rotary_attention", {"rope-pairing": "interleaved"}, "reference",
    ),
}  # fmt: skip


def written(tmp_path: Path, source: str) -> reader.Source:
    path = tmp_path / "homework.py"
    lines = source.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    path.write_text("import math\nimport torch\nfrom torch import nn\n" + "\n".join(line[indent:] for line in lines))
    return reader.read(path)


@pytest.mark.parametrize("name", SOURCES)
def test_what_it_is_and_in_which_conventions_is_found(tmp_path: Path, name: str) -> None:
    source, component, conventions, certified = SOURCES[name]
    bound, _ = bindings(written(tmp_path, source), None, None)
    (one,) = bound
    assert one.draft.component == component
    if certified is not None:
        assert one.certified == certified
    if conventions is not None:
        from attnconf.adapters.contract import CONVENTIONS

        said = {k: one.draft.declares.get(k, CONVENTIONS[k][0]) for k in conventions}
        assert said == conventions


def test_exchanged_sines_are_no_convention(tmp_path: Path) -> None:
    (one,) = bindings(written(tmp_path, SOURCES["cosines and sines exchanged"][0]), None, None)[0]
    assert one.certified != "reference"


def test_heads_that_are_no_power_of_two_are_judged_where_they_raise_no_error(tmp_path: Path) -> None:
    (one,) = bindings(written(tmp_path, SOURCES["slopes alone"][0]), None, None)[0]
    assert one.draft.declares == {}
    assert "power of two" not in one.draft.body


def test_what_has_no_argument_for_the_base_says_so(tmp_path: Path) -> None:
    (one,) = bindings(written(tmp_path, SOURCES["one sine for both"][0]), None, None)[0]
    assert 'raise NotImplementedError("an argument for the base")' in one.draft.body
    assert 'raise NotImplementedError("an argument for positions")' in one.draft.body


TABLES = """
    def tables(dim, n):
        a = torch.outer(torch.arange(n).double(), 10000.0 ** (-torch.arange(0, dim, 2).double() / dim)).repeat(1, 2)
        return a.cos(), a.sin()
    def apply_rope(x, cos, sin, ids):
        c, s = cos[ids], sin[ids]
        if ids.dim() {how}:
            c, s = c[:, None], s[:, None]
        a, b = x.chunk(2, -1)
        return x * c + torch.cat([-b, a], -1) * s
"""


@pytest.mark.parametrize(("how", "broken"), [("== 2", False), ("!= 2", True)])
def test_positions_of_a_shape_that_code_asks_for_are_broken_where_they_raise(tmp_path, how, broken) -> None:
    (one,) = bindings(written(tmp_path, TABLES.format(how=how)), None, None)[0]
    assert (one.draft.component, one.certified) == ("rotary", "reference")
    assert ("positions of 2 axes, for which the code asks, raise RuntimeError" in one.draft.body) == broken


def test_a_table_of_fixed_length_refuses_longer_sequences(tmp_path: Path) -> None:
    text = SOURCES["one sine for both"][0].replace(
        "torch.arange(x.shape[1])[:, None]", "torch.arange(40)[: x.shape[1], None]"
    )
    (one,) = bindings(written(tmp_path, text), None, None)[0]
    assert isinstance(one, Bound)
    assert "more than 40 tokens" in one.draft.body


def test_what_cannot_be_called_is_refused_with_what_was_tried(tmp_path: Path) -> None:
    source = written(tmp_path, "def rotary(a, b, c, d, e):\n    raise ValueError('not written yet')")
    (one,) = infer(source, "homework.py", None, None)
    assert isinstance(one, Unjudgeable)
    assert "not written yet" in one.reason
