"""Where ``--impl=NAME`` is looked for, and in which order: the same by pytest and by the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import attnconf

from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run.implementations import load

CONFORMANCE = Path(__file__).parents[2] / "conformance"
ADAPTER = """
from torch import softmax


def attention(config, weights):
    def forward(query, key, value):
        return softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value

    return forward
"""
NAMES = ("myadapter", "package.part")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder, with an adapter in a file and one in a package."""
    (tmp_path / "package").mkdir()
    for name in ("myadapter.py", "package/__init__.py", "package/part.py"):
        (tmp_path / name).write_text(ADAPTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    others = {name: m for name, m in sys.modules.items() if name.partition(".")[0] in ("myadapter", "package")}
    _forget()
    yield tmp_path
    _forget()
    sys.modules.update(others)


def _forget():
    """Forget the modules of these names: other tests have packages of the same name."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("myadapter", "package"):
            del sys.modules[name]


def implementations(results):
    record = json.loads(results.read_text(encoding="utf-8"))
    assert [v["verdict"] for v in record["verdicts"]] == ["incomplete"] * len(NAMES)  # selected, and nothing fails
    return [(i["name"], i["binding"], i["source"]) for i in record["implementations"]]


def test_both_front_ends_find_what_is_in_the_working_folder(folder):
    chosen = [*(f"--impl={name}" for name in NAMES), "-k", "ATT-SCALE-1"]
    pytest_itself = str(Path(sys.executable).with_name("pytest"))  # unlike `python -m`, it adds no folder
    done = subprocess.run(
        [pytest_itself, str(CONFORMANCE), *chosen, "--results=by_pytest.json"],
        cwd=folder, env=os.environ | {"COLUMNS": "120"}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    done = attnconf("run", *chosen, "--results=by_attnconf.json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    found = implementations(folder / "by_pytest.json")
    assert found == implementations(folder / "by_attnconf.json")
    assert found == [
        ("myadapter", "adapter", str(folder / "myadapter.py")),
        ("package.part", "adapter", str(folder / "package" / "part.py")),
    ]


def test_a_wrong_name_is_answered_with_the_nearest_file(folder):
    done = subprocess.run(
        [Path(sys.executable).with_name("pytest"), CONFORMANCE, "--impl=myadaptr"],
        cwd=folder, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 4
    (line,) = [line for line in done.stderr.splitlines() if "ERROR: " in line]
    assert line.startswith("ERROR: no implementation 'myadaptr'; nearest: myadapter; it is neither an adapter (")


def test_a_shipped_adapter_comes_before_a_file_of_its_name(folder):
    (folder / "reference.py").write_text(ADAPTER, encoding="utf-8")
    (found,) = load("reference")
    assert Path(found.source) == CONFORMANCE.parent / "adapters" / "reference.py"
    (found,) = load("reference.py")
    assert Path(found.source) == folder / "reference.py"


@pytest.mark.parametrize("name", ["colorsys", "numpy"])
def test_a_file_comes_before_a_module_of_its_name(folder, name):
    before = __import__(name)
    (folder / f"{name}.py").write_text(ADAPTER, encoding="utf-8")
    (found,) = load(name)
    assert (found.name, Path(found.source)) == (name, folder / f"{name}.py")
    assert sys.modules[name] is before


def test_a_file_comes_before_an_entry_point_of_its_name(folder):
    told = folder / "installed" / "told-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Name: told\nVersion: 1\n", encoding="utf-8")
    (told / "entry_points.txt").write_text("[attnconf.adapters]\nflashy = package.part\n", encoding="utf-8")
    sys.path[:0] = [str(told.parent), str(folder)]
    (found,) = load("flashy")
    assert Path(found.source) == folder / "package" / "part.py"
    (folder / "flashy.py").write_text(ADAPTER, encoding="utf-8")
    (found,) = load("flashy")
    assert Path(found.source) == folder / "flashy.py"


def test_a_notebook_and_a_class_are_found_by_a_bare_name(folder):
    cell = {"cell_type": "code", "source": ADAPTER, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "homework.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (found,) = load("homework@attention")
    assert Path(found.source) == folder / "homework.ipynb"
    with pytest.raises(LoadError, match="it has no variant 'flash'"):
        load("homework:flash@attention")


@pytest.mark.parametrize("command", [["-m", "attnconf", "run"], ["-m", "pytest", str(CONFORMANCE)]])
def test_help_says_that_the_adapter_is_taken(command):
    done = subprocess.run([sys.executable, *command, "--help"], capture_output=True, encoding="utf-8", check=False)
    assert "where both exist, the adapter is taken" in " ".join(done.stdout.split())
