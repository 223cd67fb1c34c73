"""Several tokens at once after a cache: held against those who promise them, asked of nobody who says one at a time."""

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.inference.state.kept_state import SEVERAL
from attnconf.conformance.inference.state.said_of_caches import NOT_SAID, ONE_ALONE
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
ATTENTION = '''
import torch
from torch import nn


class Attention(nn.Module):
    """Causal self-attention. {said}"""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, past=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if past is not None:
            {assumed}
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.out(y.transpose(1, 2).flatten(2)), (k, v)
'''


@pytest.mark.parametrize(
    ("said", "assumed", "words"),
    [
        ("A text may come in chunks.", "pass", "broken"),
        ("A text may come in chunks, or one token at a time.", "pass", "told"),
        ("With a past one new token comes.", "pass", "told"),
        ("", "assert x.shape[1] == 1", "told"),
        ("", "pass", "open"),
    ],
)
def test_what_is_said_of_several_tokens_counts(tmp_path, said, assumed, words):
    path = tmp_path / "attention.py"
    path.write_text(ATTENTION.format(said=said, assumed=assumed), encoding="utf-8")
    (found,), _ = inference.bindings(read(path), None, None)
    expected = {"broken": SEVERAL, "told": ONE_ALONE, "open": NOT_SAID}[words]
    assert expected in " ".join({"broken": found.broken, "told": found.told, "open": found.open_ends}[words])
    assert (words == "broken") == bool(found.broken)
    assert (words == "open") == bool(found.open_ends)
