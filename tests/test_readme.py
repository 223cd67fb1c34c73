"""The README says nothing that does not happen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(folder, *arguments):
    command = [sys.executable, "-m", "attnconf", "run", *arguments]
    wide = os.environ | {"COLUMNS": "120"}
    return subprocess.run(command, cwd=folder, env=wide, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the README's adapter and the homework whose failure it shows."""
    folder = tmp_path_factory.mktemp("readme")
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (folder / "examples.py").write_text(example, encoding="utf-8")
    homework = ROOT / "tests" / "miniatures" / "homework.py"
    (folder / "homework.py").write_text(homework.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def test_the_adapter_that_is_shown_is_right(folder):
    ran = run(folder, "--impl=examples.py")
    assert ran.returncode == 0, ran.stdout
    assert "examples.py attention: INCOMPLETE" in ran.stdout  # it says itself that it lacks dropout and causality


def test_the_failure_that_is_shown_is_what_is_printed(folder):
    shown = re.search(r"    ATT-SCALE-1 violated.*?rerun[^\n]*\n", README, flags=re.DOTALL)
    lines = [line.removeprefix("    ") for line in shown.group().splitlines()]
    printed = run(folder, "--impl=homework.py").stdout
    assert "\n".join(lines) in printed


def test_there_are_two_commands():
    commands = re.search(r"<!-- commands -->(.*?)<!-- end -->", README, flags=re.DOTALL).group(1)
    assert len(re.findall(r"^    \S.*$", commands, flags=re.MULTILINE)) == 2
