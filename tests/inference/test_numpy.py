"""Homework in NumPy: it is handed arrays, and judged by what it computes; gradients are not asked of it."""

import re

import pytest
import torch
from judged_submissions import judge

from attnconf.adapters.generated.numpy_arrays import in_arrays
from attnconf.conformance.run import implementations
from attnconf.conformance.source.reader import read

pytestmark = pytest.mark.long

torch.set_num_threads(1)
ATTENTION = """
import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return np.matmul(softmax(scores), v)
"""
MULTI_HEAD = """
import numpy as np

class MultiHeadAttention:
    def __init__(self, d_model, num_heads):
        self.d_model, self.h, self.d_k = d_model, num_heads, d_model // num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (np.random.randn(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.reshape(*x.shape[:2], self.h, self.d_k).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        Q, K, V = self.split(q @ self.W_q), self.split(k @ self.W_k), self.split(v @ self.W_v)
        scores = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(self.d_k)
        if mask is not None:
            scores = np.where(mask == 0, -1e9, scores)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        return (w @ V).transpose(0, 2, 1, 3).reshape(*q.shape[:2], self.d_model) @ self.W_o
"""
NORMS = """
import numpy as np

def layer_norm(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps) + beta

class RMSNorm:
    def __init__(self, dim, eps=1e-6):
        self.eps, self.g = eps, np.ones(dim)

    def __call__(self, x):
        return x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + self.eps) * self.g
"""
VARIANCE = "np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)"
OF_A_SAMPLE = NORMS.replace(VARIANCE, "(np.std(x, axis=-1, keepdims=True, ddof=1) + eps)")
NETWORK = """
import numpy as np

class FeedForward:
    def __init__(self, d_model, d_ff):
        self.W1, self.b1 = np.random.randn(d_model, d_ff), np.zeros(d_ff)
        self.W2, self.b2 = np.random.randn(d_ff, d_model), np.zeros(d_model)

    def forward(self, x):
        return np.maximum(0, x @ self.W1 + self.b1) @ self.W2 + self.b2
"""
POSITIONS = """
import numpy as np

class PositionalEncoding:
    def __init__(self, d_model, max_len=512):
        angle = np.arange(max_len)[:, None] / np.power(10000, np.arange(0, d_model, 2) / d_model)
        self.pe = np.zeros((max_len, d_model))
        self.pe[:, 0::2], self.pe[:, 1::2] = np.sin(angle), np.cos(angle)

    def forward(self, x):
        return x + self.pe[np.newaxis, : x.shape[1]]
"""
WRONG = {
    "unscaled": (ATTENTION.replace(" / np.sqrt(q.shape[-1])", ""), "ATT-unscaled"),
    "axis": (ATTENTION.replace("softmax(scores)", "softmax(scores.swapaxes(-1, -2)).swapaxes(-1, -2)"),
             "ATT-softmax-over-queries"),
    "width": (MULTI_HEAD.replace("np.sqrt(self.d_k)", "np.sqrt(self.d_model)"), "ATT-scaled-by-model-width"),
    "variance": (NORMS.replace(VARIANCE, VARIANCE.replace("=True", "=True, ddof=1")), "LN-unbiased"),
    "centre": (OF_A_SAMPLE.replace("(x - mean)", "x"), "LN-not-centred"),
}  # fmt: skip


RIGHT = {
    "attention": ATTENTION, "multi-head": MULTI_HEAD, "norms": NORMS, "norms-of-a-sample": OF_A_SAMPLE,
    "network": NETWORK, "positions": POSITIONS,
}  # fmt: skip


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_is_right_conforms(tmp_path, text):
    path = tmp_path / "homework.py"
    path.write_text(text, encoding="utf-8")
    found = judge(str(path), again=True)
    assert found.conformant, found
    assert not found.written


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(tmp_path, name):
    text, mistake = WRONG[name]
    path = tmp_path / "homework.py"
    path.write_text(text, encoding="utf-8")
    found = judge(str(path), again=True)
    assert found.nonconformant
    assert mistake in found.named
    assert not found.written


def test_a_run_says_so(tmp_path):
    path = tmp_path / "homework.py"
    path.write_text(ATTENTION, encoding="utf-8")
    (found,) = implementations.load(str(path))
    assert "in NumPy     arrays go in and come out, in float64; gradients are not asked for" in found.notes


def test_what_cannot_be_bound_says_what_numpy_says(tmp_path):
    path = tmp_path / "homework.py"
    path.write_text(ATTENTION.replace("np.matmul(softmax(scores), v)", "np.matmul(scores, v.nope)"), encoding="utf-8")
    (found,) = implementations.load(str(path))
    assert re.search(r"AttributeError: .* \(homework\.py:12\)", found.reason)


def test_tensors_go_in_and_come_out(tmp_path):
    path = tmp_path / "homework.py"
    path.write_text("import numpy as np\nN = 2\ndef f(x, pair, **more):\n    assert type(x) is np.ndarray\n"
                    "    x += N\n    return {'a': x, 'b': [pair[0] * 1.0, None]}\n", encoding="utf-8")  # fmt: skip
    theirs = in_arrays(read(path).module)
    theirs.N = 3
    x = torch.zeros(2, dtype=torch.float64)
    found = theirs.f(x, (torch.tensor([1, 2]),))
    assert torch.equal(x, torch.full_like(x, 3))  # what is written to an input is seen
    assert torch.equal(found["a"], x)
    assert torch.equal(found["b"][0], torch.tensor([1.0, 2.0], dtype=torch.float64))
    with pytest.raises(NotImplementedError, match="gradients: it computes in NumPy"):
        theirs.f(x.clone().requires_grad_(), (x,))
    with pytest.raises(NotImplementedError, match="float32: it computes in NumPy, in float64"):
        theirs.f(x.float(), (x,))
