"""The line that makes a mistake is found in code of different hands, or none is named. The line wanted ends in #!"""

import textwrap

import pytest

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.diagnosis.finders.by_mutant import FINDERS
from attnconf.conformance.diagnosis.locate import locate, place
from attnconf.conformance.engine.request import Binding, Implementation

CLASS = "class A:\n    def __init__(self):\n        self.o = {}\n    def {}(self, x):\n        return {}"
# By mutant: code in two hands, and code in which no line, or more than one, may be meant.
SNIPPETS = {
    "ATT-unscaled": (
        "s = q @ k.transpose(-2, -1)  #!\na = s.softmax(-1)\no = a @ v",
        "e = torch.einsum('nhqd,nhkd->nhqk', q, k)  #!\nreturn torch.einsum('nhqk,nhkd->nhqd', e.softmax(3), v)",
        "s = scores(q, k)\no = s.softmax(-1) @ v",
    ),
    "ATT-scaled-by-model-width": (
        "s = q @ k.mT / math.sqrt(d_model)  #!\no = s.softmax(-1) @ v",
        "self.scale = dim ** -0.5  #!\nself.var = x.var() ** 0.5",
        "a = q / math.sqrt(d)\nb = k / 2\nc = v / math.sqrt(d_model)",
    ),
    "ATT-product-before-scale": (
        "s = q @ k.mT  #!\ns = s.masked_fill(m, -1e9)\no = torch.softmax(s / math.sqrt(d), -1) @ v",
        "self.scale = d ** -0.5\ne = torch.bmm(q, k.transpose(1, 2)).mul(self.scale)  #!",
        "a = q @ k.mT / d ** 0.5\nb = 0\nc = e @ f.mT / d ** 0.5",
    ),
    "ATT-scaled-by-value-width": (
        "n, s, width = v.shape  #!\na = q @ k.mT / width ** 0.5",
        "a = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(v.size(-1))  #!",
        "a = q @ k.mT / d ** 0.5\nb = c / e ** 0.5",
    ),
    "ATT-scale-for-eight": (
        "s = q @ k.mT / 8  #!\nt = s / 2",
        "s = 0.5 * x\nq = q * 0.125  #!",
        "s = q / 8\nt = k / 8.0\nu = 0",
    ),
    "ATT-softmax-over-queries": (
        "a = torch.softmax(s, dim=-2)  #!\nb = torch.softmax(s, dim=-1)",
        "self.soft = nn.Softmax(dim=2)  #!",
        "a = torch.softmax(s, dim=-1)",
    ),
    "ATT-softmax-over-heads": (
        "a = F.softmax(s, 1)  #!",
        "a = s.softmax(1)  #!\nb = s.softmax(-1)",
        "a = s.softmax(-1)",
    ),
    "ATT-softmax-over-batch": ("a = F.softmax(s, dim=0)  #!", "self.f = nn.Softmax()  #!", "a = s.softmax(3)"),
    "ATT-no-maximum": ("e = torch.exp(s)  #!\na = e / e.sum(-1)", "a = s.exp()  #!", "a = normal(s)"),
    "ATT-half-inside": ("q = q.half()  #!", "q = q.to(torch.bfloat16)  #!", "def f(dtype=torch.float16): pass"),
    "MASK-fill-1e4": (
        "s = s.masked_fill(mask, -1e4)  #!\nt = t.masked_fill(m, -math.inf)",
        "s = torch.where(mask, s, -10000.0)  #!",
        "s = s.masked_fill(mask, float('-inf'))",
    ),
    "MASK-scores-multiplied": ("s = s * mask  #!\na = s.softmax(-1)", "s *= attn_mask  #!", "a = s * scale"),
    "MASK-first-sample": (
        "mask = mask.unsqueeze(1)[:1]  #!\nq = x[0]",
        "m = attn_mask[0]  #!\nk = k[:1]",
        "mask = mask[:, :1]\nm = mask[1:]",
    ),
    "MASK-additive-subtracted": (
        "s = s.masked_fill(torch.ones(n, n).triu(1), -math.inf)\ns = s - attn_mask  #!",
        "s -= mask[:, None]  #!\na = s.softmax(-1)",
        "s = s + attn_mask\nd = 1 - x",
    ),
    "MASK-ones-added": (
        "s = s.masked_fill(later, -math.inf)\ns = s + mask.float()  #!",
        "s += attn_mask  #!",
        "s = s.masked_fill(mask == 0, -1e9)\nn = past + 1",
    ),
    "MASK-after-softmax": (
        "a = s.softmax(-1)\na = a * mask  #!",
        "a = s.softmax(-1)\na = a.masked_fill(~keep, 0.0)  #!",
        "a = s.softmax(-1)",
    ),
    "MASK-causal-peeking": (
        "m = torch.triu(torch.ones(n, n), diagonal=2)  #!\nw = torch.triu(x, 1)",
        "m = torch.ones(n, n).tril(1)  #!",
        "m = i >= j",
    ),
    "MASK-causal-strict": ("m = torch.tril(o, -1)  #!", "m = torch.ones(n, n).triu()  #!", "m = i > j"),
    "MASK-inverted": (
        "s = s.masked_fill(mask == 1, -1e9)  #!",
        "s = torch.where(attn_mask, -1e9, s)  #!",
        "s = s.masked_fill(a, -1e9)\nt = s / 2\nu = u.masked_fill(b, -1e9)",
    ),
    "MASK-padding-on-queries": (
        "s = s.masked_fill(pad[:, None, :, None], -1e9)  #!",
        "s = s.masked_fill(real.view(b, 1, n, 1) == 0, -1e9)  #!",
        "s = s.masked_fill(pad[:, None, None, :], -1e9)",
    ),
    "MASK-causal-ignored": (
        "def forward(self, x):\n    mask = torch.tril(o)  #!\n    return attend(x)",
        "def forward(self, x, is_causal):  #!\n    return attend(x)",
        "def forward(self, x, mask):\n    return attend(x, mask)",
    ),
    "MHA-split-without-transpose": (
        "q = self.q(x).view(b, self.h, n, self.d)  #!\no = (a @ v).transpose(1, 2).reshape(b, n, e)",
        "q = x.reshape(b, heads, n, d)  #!\nk = y.reshape(b, heads, n, d)\nv = z.reshape(b, heads, n, d)",
        "q = x.view(b, n, h, d).transpose(1, 2)",
    ),
    "MHA-merge-without-transpose": (
        "q = x.view(b, n, h, d).transpose(1, 2)\no = (a @ v).reshape(b, n, e)  #!",
        "o = o.view(b, -1, self.width)  #!\nreturn self.out(o)",
        "o = o.transpose(1, 2).reshape(b, n, e)",
    ),
    "MHA-no-output-projection": (
        CLASS.format("nn.Linear(d, d)", "forward", "x  #!"),
        CLASS.format("Linear(d, d, bias=False)", "__call__", "x  #!"),
        CLASS.format("nn.Linear(d, d)", "forward", "self.o(x)"),
    ),
    "MHA-k-and-v-weights-swapped": (
        "s = q @ v.transpose(2, 3)  #!\no = s @ k",
        "s = torch.matmul(query, value.mT)  #!",
        "s = q @ k.transpose(2, 3)",
    ),
    "MHA-sequence-first": (
        "self.a = nn.MultiheadAttention(d, h)  #!",
        "self.a = torch.nn.MultiheadAttention(embed_dim=d, num_heads=h, dropout=p)  #!",
        "self.a = nn.MultiheadAttention(d, h, batch_first=True)",
    ),
    "ATT-weights-detached": (
        "a = a.detach()  #!",
        "with torch.no_grad():  #!\n    a = s.softmax(-1)",
        "a = s.softmax(-1)",
    ),
    "ATT-query-overwritten": (
        "def forward(self, query, k):\n    query *= self.scale  #!\n    return query @ k.mT",
        "q.mul_(d ** -0.5)  #!",
        "def forward(self, query):\n    query = query * 2\n    return query",
    ),
    "ATT-always-dropping": (
        "a = F.dropout(a, 0.1)  #!\nb = F.dropout(a, 0.1, self.training)",
        "o = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)  #!",
        "a = self.dropout(a)",
    ),
    "LN-unbiased": ("s = x.std(-1, keepdim=True)  #!", "v = torch.var(x, dim=-1)  #!", "v = x.var(-1, unbiased=False)"),
    "LN-eps-outside": (
        "y = (x - m) / (torch.sqrt(v) + eps)  #!",
        "y = (x - m) / (std + 1e-5)  #!",
        "y = (x - m) / torch.sqrt(v + eps)",
    ),
    "LN-eps-fixed": (
        "y = (x - m) / torch.sqrt(v + 1e-6)  #!",
        "self.n = nn.LayerNorm(d, eps=1e-12)  #!",
        "y = v + self.eps",
    ),
    "LN-over-the-sequence": (
        "m = x.mean(dim=1, keepdim=True)  #!\nv = ((x - m) ** 2).mean(dim=1, keepdim=True)",
        "y = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)  #!",
        "m = x.mean(-1, keepdim=True)",
    ),
    "RMS-mean-subtracted": ("x = x - x.mean(-1, keepdim=True)  #!", "y = (x - mean) * r  #!", "y = x * r"),
    "ENC-norm-of-the-branch": (
        "x = x + self.norm1(self.attn(x))  #!\nreturn x",
        "return old + self.layernorm(new)  #!",
        "x = self.norm1(x + self.attn(x))",
    ),
    "ENC-residual-from-norm": (
        "x = self.norm1(x)  #!\nx = x + self.attn(x)\nx = x + self.ff(self.norm2(x))",
        "h = self.ln_1(h)  #!\nh = h + attend(h)",
        "y = self.norm1(x)\nx = x + self.attn(y)",
    ),
    "ENC-shared-layer": (
        "self.layers = nn.ModuleList([layer] * n)  #!",
        "self.layers = nn.ModuleList([block for _ in range(n)])  #!",
        "self.layers = nn.ModuleList([Layer(d) for _ in range(n)])",
    ),
    "FF-no-activation": (
        "def forward(self, x):\n    return self.two(self.one(x))  #!",
        "y = self.fc2(self.fc1(x))  #!\nreturn self.norm(x + self.drop(y))",
        "return self.two(torch.relu(self.one(x)))",
    ),
    "FF-quick-gelu": ("y = x * torch.sigmoid(1.702 * x)  #!", "self.act = nn.GELU()  #!", "y = self.act(x)"),
    "SIN-from-one": (
        "p = torch.arange(1, n + 1)  #!\ni = torch.arange(0, d, 2)",
        "pe[pos] = f(pos + 1)  #!",
        "p = torch.arange(n)",
    ),
    "SIN-base-1000": (
        "w = 1.0 / 1000 ** (i / d)  #!",
        "w = torch.exp(i * (-math.log(1000.0) / d))  #!",
        "w = 10000 ** (-i / d)",
    ),
    "SIN-double-step": (
        "for i in range(0, d, 2):\n    pe[p, i] = math.sin(p / 10000 ** (2 * i / d))  #!",
        "w = torch.pow(10000, -2 * torch.arange(0, d, 2) / d)  #!",
        "a = b ** (2 * i / d)\nc = 0\ne = f ** (i / d)",
    ),
    "SIN-concatenated": (
        "return torch.cat([x, pe], dim=-1)  #!",
        "return torch.concat((x, self.pe[:n]), 2)  #!",
        "return x + pe",
    ),
    "ROPE-base-fixed": (
        "w = 10000 ** (-i / d)  #!",
        "w = torch.exp(-math.log(10000.0) * i / d)  #!",
        "w = base ** (-i / d)",
    ),
    "ROPE-mirrored": (
        "return torch.cat((b, -a), dim=-1)  #!",
        "r = torch.stack([x2, -x1], -1)  #!",
        "return a * c - b * s",
    ),
    "LRN-wrapped": ("p = torch.arange(n) % self.max_len  #!", "i = torch.remainder(i, size)  #!", "assert d % h == 0"),
    "LRN-clamped": ("p = p.clamp(max=self.n - 1)  #!", "p = torch.clamp(p, 0, n)  #!", "p = torch.arange(n)"),
    "EMB-max-norm": (
        "self.e = nn.Embedding(v, d, max_norm=1.0)  #!",
        "super().__init__(v, d, max_norm=2)  #!",
        "self.e = nn.Embedding(v, d)",
    ),
    "EMB-zero-frozen": (
        "self.e = nn.Embedding(v, d, padding_idx=0)  #!",
        "e = F.embedding(ids, w, padding_idx=0)  #!",
        "self.e = nn.Embedding(v, d)",
    ),
    "ENC-eps=1e-06": (
        "self.n = nn.LayerNorm(d, eps=1e-6)  #!",
        "s = torch.sqrt(v + 1e-6)  #!",
        "self.n = nn.LayerNorm(d, eps)",
    ),
}


def wanted(code):
    """Return the line that is marked."""
    return next(number for number, line in enumerate(code.splitlines(), 1) if line.endswith("#!"))


@pytest.mark.parametrize("hand", [0, 1])
@pytest.mark.parametrize("mutant", SNIPPETS)
def test_the_line_is_found(mutant, hand):
    code = SNIPPETS[mutant][hand]
    assert locate(code, [mutant]) == wanted(code)


@pytest.mark.parametrize("mutant", SNIPPETS)
def test_nothing_is_said_where_no_one_line_can_be_meant(mutant):
    assert locate(SNIPPETS[mutant][2], [mutant]) is None


def test_snippets_are_of_mutants_that_there_are():
    assert {name for name in SNIPPETS if "=" not in name} <= set(all_mutants())


def test_every_pattern_is_of_mutants_that_there_are():
    from fnmatch import fnmatchcase

    for pattern, _ in FINDERS:
        assert "=" in pattern or any(fnmatchcase(name, pattern) for name in all_mutants()), pattern


def test_alternatives_share_a_line_or_have_none():
    code = "s = q @ k.mT / math.sqrt(d_model)\na = s.softmax(1)"
    assert locate(code, ["ATT-scaled-by-model-width", "ATT-scaled-by-E"]) == 1
    assert locate("\n".join(reversed(code.splitlines())), ["ATT-scaled-by-E", "ATT-softmax-over-heads"]) is None


TWO = textwrap.dedent("""
    def width(d):
        return math.sqrt(d)

    class Right:
        def forward(self, q, k):
            return q @ k.mT / math.sqrt(q.size(-1))

    class Wrong:
        def forward(self, q, k):
            return q @ k.mT / width(self.d_model)
""")


def test_only_what_is_judged_and_what_it_names_is_searched():
    assert locate(TWO, ["ATT-scaled-by-model-width"]) is None
    assert locate(TWO, ["ATT-scaled-by-model-width"], "Wrong") == 3


def test_a_length_that_is_called_t_is_no_transposition():
    assert locate("b, h, T, d = o.shape\no = o.reshape(b, T, h * d)", ["MHA-merge-without-transpose"]) == 2


@pytest.mark.parametrize("text", ["def f(:", "", '{"cells": []}', "\0"])
def test_what_is_no_program_has_no_line(text):
    assert locate(text, ["ATT-unscaled"]) is None


def test_a_place_is_in_the_file_of_the_implementation(tmp_path):
    file = tmp_path / "homework.py"
    file.write_text(TWO, encoding="utf-8")
    there = Implementation("homework.py:Wrong", {}, source=str(file), binding=Binding(inside="Wrong"))
    assert place(there, "attention", ["ATT-scaled-by-model-width"]) == ("homework.py:3", 3, "return math.sqrt(d)")
    assert place(Implementation("gone", {}, source="gone.py"), "attention", ["ATT-unscaled"]) is None
    assert place(Implementation("library", {}), "attention", ["ATT-unscaled"]) is None
