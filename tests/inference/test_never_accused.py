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
