"""The reference against numbers that others have published; goldens.json names the source of each."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import multi_head_attention

GOLDENS = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))
FOUR_DIGITS, SEVEN_DIGITS = 0.5e-4, 0.5e-7  # half a unit of the last digit printed
FLOAT32 = 2.0**-24  # one rounding of a float32 below 1, for what was computed in float32


def tensor(x):
    return torch.tensor(x, dtype=torch.float64)


def close(got, want, bound):
    torch.testing.assert_close(got, tensor(want), rtol=0, atol=bound)


@pytest.fixture
def words():
    """Return the six words of the book's example, (6, 3)."""
    return tensor(GOLDENS["inputs_ch3"]["x"])


def project(words, golden, transposed):
    """Return q, k, v, (6, 2) each; ``transposed`` says that the matrices are stored (out, in)."""
    matrices = [tensor(golden[name]) for name in ("Wq", "Wk", "Wv")]
    return [words @ (w.T if transposed else w) for w in matrices]


def test_simple_self_attention_of_the_book(words):
    golden = GOLDENS["self_attention_unscaled"]
    out, weights = attend(words, words, words, scale=1.0)
    close(weights[1], golden["weights_of_token_2"], FOUR_DIGITS)
    close(out, golden["published"], FOUR_DIGITS)


def test_scaled_self_attention_of_the_book(words):
    golden = GOLDENS["self_attention_v1"]
    out, weights = attend(*project(words, golden, transposed=False))
    close(weights[1], golden["weights_of_token_2"], FOUR_DIGITS)
    close(out, golden["published"], FOUR_DIGITS)
    close(out, golden["float64"], 1e-12)


def test_causal_attention_of_the_book(words):
    golden = GOLDENS["causal_attention"]
    out, _ = attend(*project(words, golden, transposed=True), mask=causal(6, 6))
    close(out, golden["published"], FOUR_DIGITS)
    close(out, golden["float64"], 1e-12)


def test_multi_head_attention_of_the_book(words):
    golden, projections = GOLDENS["multi_head_attention_two_heads"], GOLDENS["causal_attention"]
    weights = {f"{name}.weight": tensor(projections[f"W{name}"]) for name in "qkv"}
    weights |= {"out.weight": tensor(golden["Wo"]), "out.bias": tensor(golden["bo"])}
    batch = words[None]
    out, _ = multi_head_attention(batch, batch, batch, weights, num_heads=2, mask=causal(6, 6))
    close(out[0], golden["published"], FOUR_DIGITS)
    close(out[0], golden["float64"], 1e-12)


def test_multi_head_attention_of_keras():
    """Each head sees the inputs unchanged; output column o is the sum of head o's features."""
    golden = GOLDENS["keras_multi_head_attention"]
    eye = torch.eye(8, dtype=torch.float64)
    weights = {f"{name}.weight": eye.repeat(8, 1) for name in "qkv"}
    weights["out.weight"] = eye.repeat_interleave(8, dim=1)
    value = torch.arange(64, dtype=torch.float64).reshape(1, 8, 8) / 100
    out, attention = multi_head_attention(eye[None], eye[None], value, weights, num_heads=8)

    on, off = golden["score_on_diagonal"], golden["score_off_diagonal"]
    scores = [[on if i == j else off for j in range(8)] for i in range(8)]
    close(attention[0], [scores] * 8, FOUR_DIGITS)
    exact = math.exp(8**-0.5) / (math.exp(8**-0.5) + 7)
    close(attention[0, 0].diagonal(), [exact] * 8, 1e-12)
    close(out[0].T, [golden["outputs"]] * 8, golden["outputs_within"])


@pytest.mark.parametrize(("name", "mask"), [("onnx_attention_4d", None), ("onnx_attention_4d_causal", causal(4, 6))])
def test_attention_of_onnx(name, mask):
    golden, random = GOLDENS[name], np.random.RandomState(0)
    q, k, v = (random.rand(2, 3, length, 8).astype(np.float32) for length in (4, 6, 6))
    out, _ = attend(*(torch.from_numpy(x).double() for x in (q, k, v)), mask=mask)
    close(out[tuple(golden["index"])], golden["published"], SEVEN_DIGITS + FLOAT32)
    close(out.sum(), golden["sum"], 0.5e-6)
