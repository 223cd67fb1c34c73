"""A whole Transformer that ends in log_softmax: where its words say logits, and where its logits are wrong."""

from pathlib import Path

import pytest
from judged_submissions import judge

pytestmark = pytest.mark.long

TRANSLATOR = Path(__file__).parents[1] / "submissions" / "right" / "lay_log_probabilities.py"


@pytest.mark.parametrize(
    ("there", "then", "verdict"),
    [
        ("gives log-probabilities, for nn.NLLLoss and beam search", "gives logits", "nonconformant"),
        ("self.end(self.proj(x))", "self.end(2 * self.proj(x))", "unrecognised"),  # of other logits
    ],
)
def test_log_probabilities_are_accepted_only_as_they_are_meant(tmp_path, there, then, verdict):
    source = TRANSLATOR.read_text(encoding="utf-8")
    assert there in source
    path = tmp_path / "translator.py"
    path.write_text(source.replace(there, then), encoding="utf-8")
    assert dict(judge(str(path)).verdicts)["transformer"] == verdict
