"""Norms of queries and keys inside attention are found, as the member of the family that they make of it."""

from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
SAID = {  # what is declared of each
    "right/att_heads_of_one_size.py": {"qk-norm": "rms"},
    "right/att_normed_before_the_split.py": {"qk-norm": "layer", "qk-norm-over": "width"},
    "right/att_normed_heads.py": {"qk-norm": "layer"},
    "wrong/att_one_norm_for_both.py": {"qk-norm": "rms"},
}


def inferred(path):
    (found,), _ = inference.bindings(read(path), None, None)
    return found


@pytest.mark.parametrize("file", SAID)
def test_what_they_are_is_declared(file):
    found = inferred(SUBMISSIONS / file)
    declared = {name: choice for name, choice in found.draft.declares.items() if name.startswith("qk-norm")}
    assert declared == SAID[file]
    assert not any("left out" in words for words in found.open_ends)
    assert 'weights["k_norm.weight"]' in found.draft.body
    assert "with_eps(module, config.qk_norm_eps" in found.draft.body


def test_what_they_are_not_is_left_out_as_before(tmp_path):
    """A norm of the values besides, which no member has."""
    text = (SUBMISSIONS / "right/att_normed_heads.py").read_text(encoding="utf-8")
    path = tmp_path / "homework.py"
    both = "q, k = self.norm_q(q), self.norm_k(k)"
    path.write_text(text.replace(both, f"{both}\n        v = self.norm_k(v)"), encoding="utf-8")
    found = inferred(path)
    assert not any(name.startswith("qk-norm") for name in found.draft.declares)
    assert [words for words in found.open_ends if "left out, and not judged" in words]
