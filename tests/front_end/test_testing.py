"""``attnconf.testing.conformance``: the suite among a project's own tests."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import attnconf

from attnconf.spec.registry import SpecError
from attnconf.testing import conformance

MINIATURES = Path(__file__).parents[1] / "miniatures"
TEST = """
from attnconf.testing import conformance

TestAttention = conformance({target!r}, select={select!r}, expected={expected!r})
"""
SELECT = "ATT-SCALE-1 or ATT-ORACLE-1 or ATT-LINEAR-1 or CALL-SHAPE-1"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs such a test file in a project of its own: the lines of pytest."""

    def run(target, expected, select=SELECT):
        folder = tmp_path_factory.mktemp("project")
        content = TEST.format(target=str(MINIATURES / target), select=select, expected=expected)
        (folder / "test_mine.py").write_text(content, encoding="utf-8")
        return pytest_in(folder, "test_mine.py")

    return run


def pytest_in(folder, *words):
    """Return what pytest prints in a folder."""
    command = [sys.executable, "-m", "pytest", "-v", "-rxs", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=300)
    return done.stdout


def outcomes(printed):
    return dict(re.findall(r"::test_section\[(.*?)\] (PASSED|FAILED|XFAIL|SKIPPED)", printed))


def test_a_right_class_passes_section_by_section(run):
    printed = run("self_attention.py", {})
    found = outcomes(printed)
    assert found["attention: The scores"] == "PASSED"
    assert set(found.values()) == {"PASSED"}
    assert list(found)[-1] == "verdict"


def test_a_failure_reads_as_in_a_run(run):
    printed = run("homework.py", {})
    assert outcomes(printed)["attention: The scores"] == "FAILED"
    assert outcomes(printed)["verdict"] == "FAILED"
    assert ": NONCONFORMANT; violates ATT-SCALE-1" in printed
    assert "ATT-SCALE-1 violated by " in printed
    assert "  likely    the scores are divided by √(H·E)" in printed
    assert "ATT-ORACLE-1 fails, which follows from ATT-SCALE-1" in printed
    assert "Traceback" not in printed
    assert "def test_section" not in printed


def test_what_is_expected_is_told_with_its_reason(run):
    printed = run("homework.py", {"ATT-SCALE-1": "as in the paper of 2016"})
    found = outcomes(printed)
    assert found["attention: The scores"] == found["attention: All of it"] == found["verdict"] == "XFAIL"
    assert "ATT-SCALE-1: as in the paper of 2016" in printed
    assert set(found.values()) == {"PASSED", "XFAIL"}


def test_an_expectation_that_is_stale_fails(run):
    printed = run("self_attention.py", {"ATT-SCALE-1": "once"})
    assert "ATT-SCALE-1 is expected to fail (once), and holds: take it off the list" in printed


def test_what_cannot_be_judged_fails(run, tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n", encoding="utf-8")
    printed = run(tmp_path / "empty.py", {}, None)
    assert outcomes(printed) == {"verdict": "FAILED"}
    assert "NOT-GRADABLE" in printed


def test_an_unknown_requirement_is_refused_at_once():
    with pytest.raises(SpecError, match=r"unknown requirement 'ATT-SCALE-9'.*; nearest: ATT-SCALE-"):
        conformance("homework.py", expected={"ATT-SCALE-9": "?"})
    with pytest.raises(SpecError, match=r"unknown requirement 'NO-SUCH-1': it is on no page of the spec$"):
        conformance("homework.py", expected={"NO-SUCH-1": "?"})


def test_what_leads_nowhere_is_said_in_one_line(run):
    printed = run("nowhere.py", {})
    assert re.search(r"^conformance: no file '.*nowhere\.py'", printed, re.M)
    assert "CheckError" not in printed
    assert ".py:" not in printed  # no traceback


LAYERS = """
import torch
from torch import nn

class Unscaled(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

def made():
    class Local(Unscaled):
        def forward(self, x):
            return super().forward(x)
    return Local
"""
AT_HAND = """
from attnconf.testing import conformance
from layers import Unscaled, made

TestClass = conformance(Unscaled, select="ATT-SCALE-1", component="multi_head_attention")
TestLocal = conformance(made(), select="ATT-SCALE-1")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a folder with a file of layers and a test file, and what pytest prints of it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "layers.py").write_text(LAYERS, encoding="utf-8")
    (folder / "test_mine.py").write_text(AT_HAND, encoding="utf-8")
    return folder, pytest_in(folder)


def reruns(printed):
    return dict(re.findall(r"violated by (\w+) .*?\n  rerun     (.*?)\n", printed, re.S))


def test_a_class_at_hand_is_judged_again_by_its_file(project):
    folder, printed = project
    command = reruns(printed)["Unscaled"]
    name = "layers.py:Unscaled@multi_head_attention"
    assert command == f'attnconf run --impl={name} -k "ATT-SCALE-1 and readable-1"'
    again = attnconf(*shlex.split(command)[1:], cwd=folder)
    assert again.returncode == 1
    assert f"ATT-SCALE-1 violated by {name}" in again.stdout


def test_what_no_name_leads_to_is_judged_again_by_pytest(project):
    folder, printed = project
    command = reruns(printed)["Local"]
    assert command == "pytest 'test_mine.py::TestLocal::test_section[attention: The scores]'"
    assert outcomes(pytest_in(folder, *shlex.split(command)[1:])) == {"attention: The scores": "FAILED"}
