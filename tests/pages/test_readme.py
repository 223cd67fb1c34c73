"""The pages for newcomers say nothing that does not happen: README.md, and adapters/README.md."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import attnconf
from attnconf.adapters.contract import COMPONENTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_ADAPTERS = (ROOT / "adapters" / "README.md").read_text(encoding="utf-8")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder, *arguments):
    command = [sys.executable, "-m", "attnconf", "run", *arguments]
    wide = os.environ | {"COLUMNS": "120"}
    return subprocess.run(command, cwd=folder, env=wide, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the adapters of adapters/README.md and the homework whose failure README.md shows."""
    folder = tmp_path_factory.mktemp("readme")
    by_hand, bound = re.findall(r"```python\n(.*?)```", OF_ADAPTERS, flags=re.DOTALL)
    (folder / "examples.py").write_text(by_hand, encoding="utf-8")
    (folder / "bound.py").write_text(bound, encoding="utf-8")
    homework = ROOT / "tests" / "miniatures" / "homework.py"
    (folder / "homework.py").write_text(homework.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def test_the_adapters_that_are_shown_are_right(folder):
    ran = run(folder, "--impl=examples.py", "--impl=bound.py")
    assert ran.returncode == 0, ran.stdout
    assert "examples.py attention: INCOMPLETE" in ran.stdout  # it says itself that it lacks dropout and causality
    assert "bound.py layer_norm: CONFORMANT" in ran.stdout


def test_the_table_of_components_is_the_contract():
    rows = [line.split(" | ") for line in OF_ADAPTERS.splitlines() if line.startswith("| `")]
    shown = {row[0].strip("| `"): row[1].strip("`()") for row in rows}
    assert shown == {name: component.forward for name, component in COMPONENTS.items()}


def test_the_failure_that_is_shown_is_what_is_printed(folder):
    shown = re.search(r"    ATT-SCALE-1 violated.*?rerun[^\n]*\n", README, flags=re.DOTALL)
    lines = [line.removeprefix("    ") for line in shown.group().splitlines()]
    printed = run(folder, "--impl=homework.py").stdout
    assert "\n".join(lines) in printed


def test_the_first_of_two_commands_judges_the_homework_that_is_shown():
    commands = re.search(r"<!-- commands -->(.*?)<!-- end -->", README, flags=re.DOTALL).group(1)
    first, second = re.findall(r"^    (\S.*)$", commands, flags=re.MULTILINE)
    assert second.endswith("/pytest -n 2 --dist worksteal")
    arguments = first.rpartition("/attnconf run ")[2].split()
    shown, test = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert (ROOT / arguments[-1]).read_text(encoding="utf-8").endswith(shown)
    ran = run(ROOT, *arguments)
    assert ran.returncode == 0, ran.stdout
    assert ": CONFORMANT" in ran.stdout
    assert " violated by " not in ran.stdout
    assert " not followed by " not in ran.stdout
    space = {"attnconf": attnconf, **vars(load(ROOT / arguments[-1]))}
    exec(test, space)
    space["test_attention_is_right"]()


def test_the_class_of_a_library_is_judged_as_is_said(tmp_path):
    command, verdict = re.search(r"attnconf run (torch\S+) +(\S+ \w+: \w+)\n", README).groups()
    ran = run(tmp_path, *command.split())
    assert ran.returncode == 0, ran.stdout
    assert verdict in ran.stdout


def test_it_can_be_read_in_a_few_minutes():
    told = re.sub("<!-- gallery -->.*?<!-- end -->", "", README, flags=re.DOTALL)  # is looked at, not read
    assert len(told.split()) <= 1500
