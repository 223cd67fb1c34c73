"""Right code that means something else than the textbook, and says so, or does it where nobody looks."""

import pytest
from judged_submissions import judge

ATTENTION = """
import torch
from torch import nn


class PaddedSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q, self.w_k, self.w_v, self.fc = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = (w(x).view(b, t, self.n_head, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        s = q @ k.transpose(2, 3) / (d // self.n_head) ** 0.5
        if mask is not None:
            {hide}
        y = self.fc((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return y if mask is None else y.masked_fill(mask.unsqueeze(-1), 0)
"""


SET = '''
import torch
from torch import nn


class DecoderLayer(nn.Module):
    """{said}"""

    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.attends, self.crosses = (nn.MultiheadAttention(d_model, nhead, batch_first=True) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)

    def forward(self, x, memory):
        x = self.norm1(x + self.attends(x, x, x)[0])
        x = self.norm2(x + self.crosses(x, memory, memory)[0])
        return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))
'''


def verdicts(folder, text):
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return {said for _, said in judge(str(path)).verdicts}


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("post-norm; the targets are a set of objects, as in DETR", "unrecognised"),
        ("post-norm, after Vaswani et al.", "nonconformant"),
    ],
)
def test_a_decoder_of_a_set_is_no_decoder_of_a_sequence(tmp_path, said, verdict):
    assert verdicts(tmp_path, SET.format(said=said)) == {verdict}


@pytest.mark.parametrize(
    ("hide", "verdict"),
    [
        ('s = s.masked_fill(mask[:, None, None, :], float("-inf"))', "conformant"),
        ("pass  # padded frames are seen as keys", "nonconformant"),
    ],
)
def test_rows_of_hidden_tokens_accuse_nobody(tmp_path, hide, verdict):
    """In text-to-speech they come out as zeros, which nobody reads: it is right where there are tokens."""
    assert verdicts(tmp_path, ATTENTION.format(hide=hide)) == {verdict}


LAYER = '''
import torch
from torch import nn
import torch.nn.functional as F


class {name}(nn.Module):
    """{said}"""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        {more}

    def attend(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    def think(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x):
        {steps}
'''
OUTPUT = "x = x + self.n1(self.attend(x)); return x + self.n2(self.think(x))"
SIDE_BY_SIDE = "return x + self.attend(self.n1(x)) + self.think(self.n2(x))"
PLACEMENTS = {
    "output": {"steps": OUTPUT},
    "parallel": {"steps": SIDE_BY_SIDE},
    "parallel with one norm": {
        "steps": "n = self.n1(x); return x + self.attend(n) + self.think(n)", "more": "del self.n2",
    },
    "sandwich": {
        "steps": "x = x + self.n3(self.attend(self.n1(x))); return x + self.n4(self.think(self.n2(x)))",
        "more": "self.n3, self.n4 = nn.LayerNorm(width), nn.LayerNorm(width)",
    },
}  # fmt: skip


def layer(steps, said="A layer of a Transformer.", name="Block", more="pass"):
    return LAYER.format(steps=steps, said=said, name=name, more=more)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_placement_of_norms_that_others_have_published_accuses_nobody(tmp_path, placement):
    assert verdicts(tmp_path, layer(**PLACEMENTS[placement])) == {"conformant"}


@pytest.mark.parametrize(
    ("steps", "said", "name"),
    [
        (OUTPUT, "Post-norm, after Vaswani et al.", "Block"),
        (OUTPUT, "A layer of a Transformer.", "AddNormBlock"),
        (SIDE_BY_SIDE, "A pre-norm layer.", "Block"),
    ],
)
def test_a_layer_that_says_otherwise_is_held_to_its_words(tmp_path, steps, said, name):
    assert verdicts(tmp_path, layer(steps, said, name)) == {"nonconformant"}


BUILDER = """
from torch import nn


def make_network(width, inner):
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
"""


def test_what_a_function_builds_is_judged_where_it_is_named(tmp_path):
    path = tmp_path / "builder.py"
    path.write_text(BUILDER, encoding="utf-8")
    assert {said for _, said in judge(f"{path}:make_network@feed_forward").verdicts} == {"conformant"}
