"""``attnconf.testing.conformance``: the suite among a project's own tests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
        command = [sys.executable, "-m", "pytest", "-v", "-rxs", "-p", "no:cacheprovider", "test_mine.py"]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=300)
        return done.stdout

    return run


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
    assert "ATT-SCALE-1 violated by " in printed
    assert "  likely    the scores are divided by √(H·E)" in printed
    assert "ATT-ORACLE-1 fails, which follows from ATT-SCALE-1" in printed
    assert "Traceback" not in printed
    assert "def test_section" not in printed


def test_what_is_expected_is_told_with_its_reason(run):
    printed = run("homework.py", {"ATT-SCALE-1": "as in the paper of 2016"})
    found = outcomes(printed)
    assert found["attention: The scores"] == found["attention: All of it"] == "XFAIL"
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
    with pytest.raises(SpecError, match="unknown requirement 'ATT-SCALE-9'"):
        conformance("homework.py", expected={"ATT-SCALE-9": "?"})
