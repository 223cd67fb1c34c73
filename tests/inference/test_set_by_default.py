"""Caps and scales that a configuration sets by default are taken away, asked for, and spoken of where that costs."""

from pathlib import Path

import torch

from attnconf.conformance.inference import bindings
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
FILE = Path(__file__).parents[1] / "submissions/right/att_capped_by_its_settings.py"
COSTS = "stands for none, which half precision shows"


def bound(path):
    (found,), _ = bindings(read(path), None, None)
    return found


def test_a_cap_that_cannot_be_left_out_is_spoken_of():
    found = bound(FILE)
    assert {"score-cap", "score-scale"} <= found.draft.declares.keys()
    assert any(COSTS in words for words in found.told)


def test_a_cap_that_can_be_left_out_is_not(tmp_path):
    text = FILE.read_text(encoding="utf-8").replace("    query_pre_attn_scalar: int = 16\n", "")
    text = text.replace("s.query_pre_attn_scalar**-0.5", "self.d**-0.5")
    line = next(line for line in text.splitlines() if "torch.tanh" in line)
    text = text.replace(line, f"        if s.attn_logit_softcapping is not None:\n    {line}")
    path = tmp_path / "it.py"
    path.write_text(text, encoding="utf-8")
    found = bound(path)
    assert "score-cap" in found.draft.declares
    assert not any(COSTS in words for words in found.told)
