"""The tool that judges public files where they lie in clones."""

import subprocess
import sys
from pathlib import Path

import public_files
import pytest

SCALED = """
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
"""
FILES = {
    "layers/norm.py": SCALED,
    "layers/rough.py": SCALED.replace("mean(-1, keepdim=True)", "mean((-2, -1), keepdim=True)"),
}


@pytest.fixture
def clones(tmp_path):
    """A folder with one clone; the files are in its commit and not in its work tree."""
    clone = tmp_path / "clones" / "someone+layers"
    for name, text in FILES.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "layers"]):
        subprocess.run([*git, *command], check=True)
    for name in FILES:
        (clone / name).unlink()
    return clone.parent


def told(clones, known, capsys, monkeypatch):
    """Return what the tool prints for a list in which the files are called what ``known`` says."""
    rows = [f"{i}\tsomeone/layers@HEAD:{path}\tRMSNorm\t{word}" for i, (path, word) in enumerate(known.items())]
    listed = clones / "list.tsv"
    listed.write_text("\n".join(["name\tsource\tclass\tverdict", *rows]), encoding="utf-8")
    attnconf = str(Path(sys.executable).with_name("attnconf"))
    monkeypatch.setattr("sys.argv", ["", str(clones), str(listed), str(clones / "out"), "--attnconf", attnconf])
    public_files.main()
    return capsys.readouterr().out


def test_files_of_a_clone_are_judged_once_and_counted(clones, capsys, monkeypatch):
    right, wrong = FILES
    printed = told(clones, {right: "right", wrong: "wrong"}, capsys, monkeypatch)
    assert "right    conformant     1\nwrong    nonconformant  1\n" in printed
    assert " | " not in printed  # nothing came out otherwise than what is known
    monkeypatch.setattr(public_files, "judged", None)  # judged again they would raise
    other = told(clones, {right: "wrong", wrong: "right"}, capsys, monkeypatch)
    assert "wrong | conformant | 0 layers/norm.py:RMSNorm | rms_norm" in other
    assert "right | nonconformant | 1 layers/rough.py:RMSNorm | rms_norm" in other


def test_a_source_that_names_no_commit_is_refused(tmp_path):
    listed = tmp_path / "list.tsv"
    listed.write_text("name\tsource\tclass\tverdict\na\tsomeone/layers:norm.py\tRMSNorm\tright\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no source: someone"):
        public_files.listed(listed)
