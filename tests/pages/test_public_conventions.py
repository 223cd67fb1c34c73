"""The study of public code: conventions are read off the syntax of somebody's code, and counted in sums."""

import pytest

from attnconf.conformance.source.syntax import tree_of
from attnconf.reports.studies import public_code, public_conventions
from attnconf.reports.studies.public_clones import Place
from attnconf.reports.studies.public_conventions import answers, counted
from attnconf.reports.studies.reading.implementation import Reading
from attnconf.reports.studies.reading.values import File

ATTENTION = """
class Attention(nn.Module):
    def __init__(self, cfg, n_rep, qkv_bias=False):
        super().__init__()
        self.h = cfg.n_heads
        self.d = cfg.width // self.h
        self.q, self.k, self.v = (nn.Linear(cfg.width, cfg.width, bias=qkv_bias) for _ in range(3))
        self.o = nn.Linear(cfg.width, cfg.width, bias=False)
        self.drop = nn.Dropout(cfg.p_drop)

    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.d).transpose(1, 2)

    def forward(self, x, memory=None, attn_mask=None):
        memory = x if memory is None else memory
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        return self.o(attend(q, k, v, attn_mask, self.drop).flatten(2))


def attend(q, k, v, mask, drop):
    scores = q @ k.transpose(-2, -1)
    low = torch.finfo(scores.dtype).min
    if mask is not None:
        scores = scores.masked_fill(~mask, low)
    return drop(F.softmax(scores, dim=-1)) @ v
"""
FUSED = """
class Attention(nn.Module):
    def __init__(self, dim):
        self.w = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.w(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True), None
"""
GIVEN = """
def attention(q, k, v, m=None):
    s = np.einsum("ld,sd->ls", q, k)
    s = np.where(m == 0, -1e9, s) + (1 - mask) * -1e4
    a = softmax(s)
    return a @ v, a
"""
LAYER = """
class Block(nn.Module):
    def __init__(self, d_model, heads, d_ff, eps=1e-6):
        self.norm1, self.norm2 = nn.LayerNorm(d_model, eps=eps), nn.LayerNorm(d_model)
        self.attn = nn.MultiheadAttention(d_model, heads)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x, cache=None):
        {body}
        return x
"""
BEFORE = "a = self.norm1(x); x = x + self.attn(a, a, a)[0]; x = x + self.ff(self.norm2(x))"
BEHIND = "x = self.norm1(x + self.attn(x, x, x)[0]); x = self.norm2(x + self.ff(x))"
INNER = "x = x + self.norm1(self.attn(x, x, x)[0]); x += self.norm2(self.ff(x))"
ROTATION = "def apply_rope(x, cos, sin):\n    {}\n    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)"
TABLE = """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        angles = torch.arange(max_len)[:, None] * torch.exp(-torch.arange(0, d_model, 2) / d_model)
        {}

    def forward(self, x):
        return x + self.table[: x.size(1)]
"""
MODEL = """
class GPT(nn.Module):
    def __init__(self, config):
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.n_layer)])

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.blocks:
            x = block(x)
        loss = None
        if targets is not None:
            loss = F.cross_entropy(x.flatten(0, 1), targets.flatten())
        return x, loss
"""
NORM = "class RMSNorm(nn.Module):\n    def __init__(self, n, eps=1e-5):\n        self.e = eps\n    {}"


def read(text, component):
    definitions = {node.name: node for node in tree_of(text).body}
    return answers(Reading(File(definitions), next(iter(definitions.values())), component))


def test_what_is_done_to_scores_is_followed_through_methods_and_functions():
    found = read(ATTENTION, "attention")
    assert found["matrices"] == ["three"]
    assert found["biases of queries, keys and values"] == ["an option, no by default"]
    assert found["bias of the output"] == ["no"]
    assert found["scores are hidden"] == ["filled where ~mask"]
    assert found["1 or True in a mask that is given"] == ["keeps"]
    assert found["the fill"] == ["the dtype's lowest"]
    assert found["what comes back"] == ["one tensor"]
    assert found["constructors call it: the width"] == ["width"]
    assert found["constructors call it: heads"] == ["n_heads"]
    assert found["constructors call it: dropout"] == ["p_drop"]
    assert found["constructors call it: heads of keys"] == ["not read"]
    assert found["calls call it: a mask"] == ["attn_mask"]


def test_a_function_that_attends_is_one_of_a_library():
    found = read(FUSED, "attention")
    assert found["it attends by"] == ["a function of a library"]
    assert found["matrices"] == ["one for queries, keys and values"]
    assert found["biases of queries, keys and values"] == ["yes"]
    assert found["causal by"] == ["is_causal"]
    assert found["calls call it: the input"] == ["x"]


def test_what_is_given_has_no_matrices():
    found = read(GIVEN, "attention")
    assert found["matrices"] == ["none: queries, keys and values are given"]
    assert found["scores are hidden"] == ["added", "filled where mask == 0"]
    assert found["the fill"] == ["-1e4", "-1e9"]
    assert found["what comes back"] == ["one tensor and weights"]
    assert [found[f"calls call it: {role}"] for role in ("queries", "keys", "values")] == [["q"], ["k"], ["v"]]
    assert "biases of queries, keys and values" not in found


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (BEFORE, "before each sublayer"),
        (BEHIND, "behind each sum"),
        (INNER, "on what a sublayer gives, before the sum"),
        ("x = x + self.attn(x, x, x)[0]; x = x + self.ff(x)", "otherwise, or nowhere"),
        (
            f"if self.first:\n            {BEFORE}\n        else:\n            {BEHIND}",
            "before or behind, by an option",
        ),
        ("x = self.blocks(x)", "not read"),
    ],
)
def test_norms_stand_where_the_sums_show_it(body, place):
    found = read(LAYER.replace("{body}", body), "layers")
    assert found["norms stand"] == [place]
    assert found["constructors call it: the hidden width"] == ["d_ff"]
    assert found["constructors call it: heads"] == ["heads"]
    assert found["constructors call it: ε"] == ["eps"]
    assert found["calls call it: a cache"] == ["cache"]


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("a, b = x.chunk(2, dim=-1)", "halves"),
        ("a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]", "halves"),
        ("a, b = x[..., ::2], x[..., 1::2]", "neighbours"),
        ("a = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))", "neighbours, as complex numbers"),
        ("a, b = turned(x)", "not read"),
    ],
)
def test_features_that_turn_together(line, pairs):
    assert read(ROTATION.format(line), "positions")["features that turn together"] == [pairs]


@pytest.mark.parametrize(
    ("line", "layout"),
    [
        ("self.table[:, 0::2] = torch.sin(angles)", "in turn"),
        ("self.table = torch.cat([angles.sin(), angles.cos()], -1)", "all sines first"),
        ("self.table = torch.stack((torch.sin(angles), torch.cos(angles)), -1).flatten(1)", "not read"),
    ],
)
def test_sines_and_cosines(line, layout):
    found = read(TABLE.format(line + "; self.words = sin, cos"), "positions")
    assert found["sines and cosines"] == [layout]
    assert found["constructors call it: the width"] == ["d_model"]
    assert found["constructors call it: the longest length"] == ["max_len"]


def test_a_model_is_made_of_what_its_configuration_says():
    found = read(MODEL, "models")
    roles = {
        "the vocabulary": "vocab_size",
        "the width": "n_embd",
        "the longest length": "block_size",
        "layers": "n_layer",
    }
    for role, name in roles.items():
        assert found[f"constructors call it: {role}"] == [name]
    assert found["what comes back"] == ["one tensor and a loss"]
    assert found["calls call it: the input"] == ["idx"]


@pytest.mark.parametrize(
    ("method", "epsilon"),
    [
        ("def forward(self, x):\n        return x * torch.rsqrt(x.pow(2).mean(-1) + self.e)", "1e-5"),
        ("def forward(self, x):\n        return F.rms_norm(x, x.shape[-1:], self.w, self.e)", "1e-5"),
        ("def forward(self, x):\n        return x / (x.std() + 1e-8)", "1e-8"),
        ("def forward(self, x):\n        return x / x.std()", "not read"),
    ],
)
def test_a_norm_adds_by_default(method, epsilon):
    assert read(NORM.format(method), "norms")["ε by default"] == [epsilon]


def test_answers_are_counted_once_and_rare_names_are_not_told():
    read_ = [
        ("attention", {"matrices": ["three"], "calls call it: keys": ["k"]}),
        ("attention", {"matrices": ["not read"], "calls call it: keys": ["k", "rare"]}),
    ]
    rows = [tuple(row.values()) for row in counted(read_)]
    assert rows == [
        ("attention", "calls call it: keys", "k", 2, 2),
        ("attention", "calls call it: keys", "others", 1, 2),
        ("attention", "matrices", "not read", 1, 2),
        ("attention", "matrices", "three", 1, 2),
    ]


def test_the_last_third_is_not_shown(tmp_path):
    source = public_code.Source("1", Place("a/b", "0" * 40, "c.py", "D"), "norms", "other", "names", "last")
    with pytest.raises(SystemExit, match="which nobody reads"):
        public_conventions.show(tmp_path, source)


def test_code_that_nobody_can_follow_ends():
    """A function that calls itself, a name without a value, a star."""
    text = "def attention(q, *a, **b):\n    return attention(*a, q @ nothing[q], **b).softmax(-1) @ attention(q)"
    assert read(text, "attention")["matrices"] == ["not read"]
