"""Hidden widths that a constructor derives are read off what is built; a size that makes a part idle proves nothing."""

from pathlib import Path

import pytest
from small_parts import HEAD
from test_left_out import inferred

GATED = """
class SwiGLU(nn.Module):
    def __init__(self, dim):
        super().__init__()
        inner = {inner}
        self.a, self.b = nn.Linear(dim, inner, bias=False), nn.Linear(dim, inner, bias=False)
        self.c = nn.Linear(inner, dim, bias=False)
    def forward(self, x):
        return self.c(F.silu(self.a(x)) * self.b(x))
"""
CHOOSING = """
class PickedFeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, picks{default}):
        super().__init__()
        assert hidden_dim % picks == 0
        self.picks = picks
        self.choice = {choice}
        self.up, self.down = nn.Linear(dim, hidden_dim), nn.Linear(hidden_dim, dim)
    def forward(self, x):
        logits = self.choice(x).unflatten(-1, (self.picks, -1))
        best = F.one_hot(logits.argmax(-1), logits.shape[-1]).flatten(-2)
        return self.down(best * self.up(x).relu())
"""
CHOICES = (
    "nn.Linear(dim, hidden_dim, bias=False)",  # as a gate that is ignored
    "nn.Sequential(nn.Linear(dim, 2), nn.Linear(2, hidden_dim))",
)


@pytest.mark.parametrize(
    ("inner", "ratio", "step"),
    [
        ("int(8 * dim / 3)", "8/3", None),
        ("2 * (4 * dim) // 3", "8/3", None),
        ("64 * ((8 * dim // 3 + 63) // 64)", "8/3", "24"),
        ("8 * dim // 3 // 64 * 64", "8/3", "24"),
        ("256 * ((8 * dim // 3 + 255) // 256)", "8/3", "96"),
        ("4 * dim", "4", None),
    ],
)
def test_a_derived_width_is_read_off_the_weights(tmp_path: Path, inner: str, ratio: str, step: str | None) -> None:
    (tmp_path / "hand.py").write_text(HEAD + GATED.format(inner=inner))
    found = inferred(tmp_path / "hand.py")
    assert found.certified == "reference"
    assert (found.draft.declares["hidden-ratio"], found.draft.declares.get("model-width")) == (ratio, step)


@pytest.mark.parametrize("choice", CHOICES)
def test_equality_with_a_part_made_idle_is_no_proof(tmp_path: Path, choice: str) -> None:
    (tmp_path / "hand.py").write_text(HEAD + CHOOSING.format(default="", choice=choice))
    found = inferred(tmp_path / "hand.py")
    assert not found.established
    assert "it computes something else" in found.doubt


def test_a_default_is_kept_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "hand.py").write_text(HEAD + CHOOSING.format(default="=1", choice=CHOICES[0]))
    assert not inferred(tmp_path / "hand.py").established
