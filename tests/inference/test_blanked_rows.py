"""Self-attention whose padded tokens come out as zeros, as text-to-speech has it: nobody reads these rows."""

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


@pytest.mark.parametrize(
    ("hide", "verdict"),
    [
        ('s = s.masked_fill(mask[:, None, None, :], float("-inf"))', "incomplete"),
        ("pass  # padded frames are seen as keys", "nonconformant"),
    ],
)
def test_rows_of_hidden_tokens_accuse_nobody(tmp_path, hide, verdict):
    path = tmp_path / "padded.py"
    path.write_text(ATTENTION.format(hide=hide), encoding="utf-8")
    assert {said for _, said in judge(str(path)).verdicts} == {verdict}
