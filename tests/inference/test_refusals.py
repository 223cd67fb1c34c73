"""What is said of a file that cannot be judged: the error, its line, and what was tried."""

import re
import signal
import threading

import pytest
import torch
from command_line import in_process

from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run.implementations import load

torch.set_num_threads(1)
NN = "import torch\nfrom torch import nn\n"
REFUSED = {
    "attention_that_wants_a_file": (
        """import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.weights = torch.load(path)
    def forward(self, x): return x
""",
        r"AttributeError: 'int' object has no attribute 'seek'\. .* … \(it\.py:7\), "
        r"built as MultiHeadAttention\(path=256\) and in 3 other ways",
    ),
    "features_of_frequencies_that_are_not_given": (
        """import numpy as np

def position_features(x, B=None):
    if B is None:
        return x
    return np.concatenate([np.cos(x @ B.T), np.sin(x @ B.T)], axis=-1)
""",
        r"NotImplementedError: an argument for the frequencies.*",
    ),
    "attention_not_written": (
        """import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.proj = nn.Linear(d_model, d_model)
    def forward(self, x):
        raise NotImplementedError
""",
        r"NotImplementedError \(it\.py:9\), called with \(x\)",
    ),
    "attention_wrong_call": (
        """import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.proj = nn.Linear(d_model, d_model)
    def forward(self, x, prices, weather):
        return self.proj(x) + prices["today"] * weather.temperature
""",
        r"IndexError: .* \(it\.py:9\), called with .* and in \d other ways",
    ),
    "attention_no_module": (
        """import torch
from torch import nn

class MultiHeadAttention:
    def __init__(self, d_model, num_heads): self.d = d_model
    def __call__(self, x): return x
""",
        r"MultiHeadAttention is no torch\.nn\.Module",
    ),
    "attention_function_wrong": (
        """
def scaled_dot_product_attention(query, key, value):
    return query @ undefined_name
""",
        r"NameError: name 'undefined_name' is not defined \(it\.py:3\)",
    ),
    "layer_broken": (
        """import torch
from torch import nn

class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads)
        self.linear = nn.Linear(d_model, d_f)
    def forward(self, x): return x
""",
        r"NameError: name 'd_f' is not defined \(it\.py:8\), "
        r"built as EncoderLayer\(d_model=embed_dim, num_heads=num_heads, d_ff=hidden_dim\).*",
    ),
    "layer_wrong_shape": (
        """import torch
from torch import nn

class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.linear = nn.Linear(d_model, d_ff)
    def forward(self, x): return self.linear(x)
""",
        r".*no output of shape \(2, 3, 20\) came back, called with \(x\) and in 1 other way",
    ),
    "norm_broken": (
        """import torch
from torch import nn

class LayerNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.g = nn.Parameter(torch.ones(dim))
    def forward(self, x): return x.nope()
""",
        r"AttributeError: 'Tensor' object has no attribute 'nope' \(it\.py:8\)",
    ),
    "ffn_broken": (
        """import torch
from torch import nn

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.a = nn.Linear(d_model, d_ff)
    def forward(self, x): return self.b(x)
""",
        r"AttributeError: 'FeedForward' object has no attribute 'b' \(it\.py:8\), "
        r"built as FeedForward\(d_model=embed_dim, d_ff=hidden_dim\).*",
    ),
    "positions_broken": (
        """import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.pe = torch.zeros(max_len, d_modell)
    def forward(self, x): return x + self.pe
""",
        r"NameError: name 'd_modell' is not defined \(it\.py:7\), "
        r"built as PositionalEncoding\(d_model=dim, max_len=max_len\)",
    ),
    "rotary_broken": (
        """import torch
from torch import nn

class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
    def forward(self, x): raise ValueError("sizes do not fit")
""",
        r"ValueError: sizes do not fit \(it\.py:7\)",
    ),
    "tokenizer_nothing": (
        """
class Tokenizer:
    def __init__(self): self.words = {}
    def encode(self, text): return self.words[text]
""",
        r"there is no way to give it a vocabulary",
    ),
    "bpe_nothing": (
        """
class BPETrainer:
    def train(self, corpus, steps): raise RuntimeError("later")
""",
        r"RuntimeError: later \(it\.py:3\)",
    ),
    "embedding_broken": (
        """import torch
from torch import nn

class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
    def forward(self, ids): return self.tabel(ids)
""",
        r"AttributeError: 'TokenEmbedding' object has no attribute 'tabel' \(it\.py:8\), called with \(ids\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_bound_says_why_where_and_what_was_tried(name, tmp_path):
    text, want = REFUSED[name]
    path = tmp_path / "it.py"
    path.write_text(text, encoding="utf-8")
    (found,) = load(str(path))
    assert re.fullmatch(rf"\w+ \(it\.py:\d\): {want}", found.reason), found.reason


@pytest.mark.parametrize(
    ("text", "asked", "want"),
    [
        ("", "", "the file is empty"),
        ("def f(:\n    pass\n", "", "line 1: SyntaxError: invalid syntax"),
        (
            "import no_such\nx = no_such.y\n", "",
            "importing it raised ModuleNotFoundError: No module named 'no_such' (line 1)",
        ),
        (
            "def price(x): return 2 * x\nclass Shop: pass\n", "",
            "nothing in it looks like a component (price, Shop): name one, FILE:Name, and what it is, @component",
        ),
        (
            NN + "class A(nn.Module):\n    def forward(self, x): return 1\n", ":A@alibi_attention",
            "A (it.py:3): what came back is int",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_found_or_read_says_why(text, asked, want, tmp_path):
    path = tmp_path / "it.py"
    path.write_text(text, encoding="utf-8")
    (found,) = load(f"{path}{asked}")
    assert found.reason == want


def test_what_says_nothing_of_itself_is_not_judged_by_the_laws_of_a_guess(tmp_path):
    """A class that holds parameters and adds no row to its input is no table of positions gone wrong."""
    path = tmp_path / "it.py"
    body = """
class S(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b = (nn.Parameter(torch.ones(3, n)) for _ in range(2))

    def forward(self, x):
        return (x @ self.a.T).cosh() @ self.b
"""
    path.write_text(NN + body, encoding="utf-8")
    (found,) = load(f"{path}:S")
    assert not hasattr(found, "components")
    assert found.reason.startswith("S (it.py:")


def test_each_of_several_has_its_reason_and_its_line(tmp_path):
    names = ("attention_not_written", "norm_broken", "ffn_broken", "positions_broken", "embedding_broken")
    path = tmp_path / "it.py"
    path.write_text(NN + "".join(REFUSED[name][0].replace(NN, "") for name in names), encoding="utf-8")
    (found,) = load(str(path))
    assert re.fullmatch(r"\w+ \(it\.py:\d+\): .*; nor can 4 others", found.reason)
    assert len(found.tried) == 4
    for line in found.tried:
        told = re.fullmatch(r"not judged   (\w+) \(it\.py:(\d+)\): .*Error(?:: .*)? \(it\.py:\d+\).*", line)
        assert f"class {told[1]}(" in path.read_text(encoding="utf-8").splitlines()[int(told[2]) - 1]
    done = in_process("run", f"--impl={path}", cwd=tmp_path)
    printed = " ".join(done.stdout.split())  # long lines are broken
    assert all(" ".join(line.split()) in printed for line in found.tried)


def test_an_exception_that_cannot_be_printed_is_told_by_its_class(tmp_path):
    mute = "class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError\n"
    layer = "class MyAttention(nn.Module):\n    def __init__(self, dim, heads):\n        raise Mute\n"
    path = tmp_path / "it.py"
    path.write_text(f"{NN}{mute}{layer}    def forward(self, x): ...\n", encoding="utf-8")
    (found,) = load(str(path))
    assert "Mute (it.py:" in found.reason


def test_a_class_of_which_python_knows_no_parameters_is_no_fault_of_ours(tmp_path):
    methods = ("train(self, text, merges): return self", "encode(self, text): ...", "decode(self, ids): ...")
    path = tmp_path / "it.py"
    path.write_text("class BPETokenizer(dict):\n" + "".join(f"    def {m}\n" for m in methods), encoding="utf-8")
    (found,) = load(str(path))
    assert found.reason == "BPETokenizer (it.py:1): there is no way to have it learn merges"


def test_a_component_that_there_is_not_is_the_callers_mistake(tmp_path):
    path = tmp_path / "it.py"
    path.write_text("def price(x): return 2 * x\n", encoding="utf-8")
    with pytest.raises(LoadError, match=r"no component 'layer-normm': there are attention, .*; nearest: layer_norm$"):
        load(f"{path}@layer-normm")


ENDLESS = """
import signal
import torch.nn as nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.proj = nn.Linear(d_model, d_model)
    def forward(self, x):
        while True:
            signal.raise_signal(signal.SIGINT)  # its user has had enough
"""


class AtOnce(threading.Timer):
    """A timer that does not wait."""

    def start(self):
        self.function(*self.args)


def test_what_never_ends_is_named_after_a_while_and_when_it_is_interrupted(tmp_path, monkeypatch, capfd):
    path = tmp_path / "it.py"
    path.write_text(ENDLESS, encoding="utf-8")
    monkeypatch.setattr("attnconf.conformance.inference.trials.waiting.threading.Timer", AtOnce)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where tests run in background
    try:
        with pytest.raises(KeyboardInterrupt):
            load(str(path))
    finally:
        signal.signal(signal.SIGINT, before)
    said = capfd.readouterr().err.splitlines()
    assert said == [
        f"attnconf: still trying MultiHeadAttention of {path}; it may never end, Ctrl-C ends it",
        f"attnconf: interrupted while trying MultiHeadAttention of {path}",
    ]


HELPED = (
    NN
    + """
def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.inv_freq = base ** (-torch.arange(0, dim, 2) / dim)

    def forward(self, x, offset=0):
        t = torch.arange(offset, offsett + x.shape[-2])
        e = torch.cat(2 * (torch.outer(t, self.inv_freq),), -1)
        return x * e.cos() + rotate_half(x) * e.sin()
"""
)


def test_a_helper_is_not_accused_in_place_of_the_class_that_cannot_be_judged(tmp_path):
    (tmp_path / "it.py").write_text(HELPED, encoding="utf-8")
    done = in_process("run", "-q", "--impl=it.py", cwd=tmp_path)
    assert "it.py: NOT-GRADABLE; RotaryEmbedding (it.py:9): NameError: name 'offsett' is not defined" in done.stdout
    assert "rotate_half" not in done.stdout
    assert done.returncode == 1
