"""A second value that is no weights: by its name, or by what is said of it."""

import pytest
from judged_submissions import judge

ATTENTION = '''
from torch import nn


class SelfAttention(nn.Module):
    """{words}"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.wo = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        {name} = q @ k.mT / q.shape[-1] ** 0.5
        return self.wo(({name}.softmax(-1) @ v).transpose(1, 2).flatten(2)), {name}
'''


@pytest.mark.parametrize(
    ("words", "name", "verdict"),
    [
        ("Returns the output and the logits (before the softmax).", "attn", "conformant"),
        ("", "puntajes", "conformant"),
        ("Returns the output and the attention weights.", "attn", "nonconformant"),
        ("Scores are scaled. Returns the output and attention.", "attn", "nonconformant"),
        ("Returns the output and the logits (before the softmax).", "attn_weights", "nonconformant"),
    ],
)
def test_what_is_said_to_be_scores_claims_no_weights(tmp_path, words, name, verdict):
    path = tmp_path / "pairs.py"
    path.write_text(ATTENTION.format(words=words, name=name), encoding="utf-8")
    assert {said for _, said in judge(str(path)).verdicts} == {verdict}
