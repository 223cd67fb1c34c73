"""Functions over dicts of weights that another function of the file makes: its sizes are told by what it makes."""

import re

import pytest
import torch
from command_line import in_process

torch.set_num_threads(1)
IMPORTS = "from types import SimpleNamespace\nfrom typing import NamedTuple\nimport numpy as np\nimport torch\n"
ATTENDS = """
def attention(p, x{more}):
    q, k, v = (torch.einsum("btd,dnh->bnth", x, p[name]) for name in "qkv")
    w = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bnth,nhd->btd", w @ v, p["o"])
"""
MADE = """
def make_weights({sizes}):
    r = lambda *s: torch.randn(*s)
    return {{"q": r({d}, {n}, {h}), "k": r({d}, {n}, {h}), "v": r({d}, {n}, {h}), "o": r({n}, {h}, {d})}}
"""
ARRAYS = """
def make_weights(rng, D, H, G):
    r = lambda *s: rng.normal(size=s)
    return {"q": r(D, H, G), "k": r(D, H, G), "v": r(D, H, G), "o": r(H, G, D)}

def attention(p, x):
    q, k, v = (np.einsum("btd,dnh->bnth", x, p[name]) for name in "qkv")
    s = np.exp(q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1]))
    return np.einsum("bnth,nhd->btd", s / s.sum(-1, keepdims=True) @ v, p["o"])
"""
FILES = {
    "letters": MADE.format(sizes="d, n, h", d="d", n="n", h="h") + ATTENDS.format(more=""),
    "letters in another order": MADE.format(sizes="h, d, n", d="d", n="n", h="h") + ATTENDS.format(more=""),
    "a dict that is asked": MADE.format(sizes="cfg", d='cfg["d"]', n='cfg["n"]', h='cfg["h"]')
    + ATTENDS.format(more=", cfg"),
    "a namespace of the file": "\nC = SimpleNamespace(d=32, n=4, h=8)\n"
    + MADE.format(sizes="cfg", d="cfg.d", n="cfg.n", h="cfg.h")
    + ATTENDS.format(more=", cfg=C"),
    "a named tuple without a name that says so": "\nclass Sizes(NamedTuple):\n    d: int\n    n: int\n    h: int\n"
    + MADE.format(sizes="s", d="s.d", n="s.n", h="s.h")
    + ATTENDS.format(more=", s"),
    "a generator of NumPy, and a letter that is no generator": ARRAYS,
}


@pytest.mark.parametrize("case", FILES)
def test_sizes_are_told_by_the_weights(tmp_path, case):
    file = tmp_path / "it.py"
    file.write_text(IMPORTS + FILES[case])
    done = in_process("run", f"--impl={file.name}:attention", cwd=tmp_path)
    words = " ".join(done.stdout.split())
    assert "multi_head_attention: CONFORMANT" in words, words
    assert re.search(r'(h|G|"h")(=|: )head_dim', words), words
