"""An adapter whose library is not installed is not run, in one line; a failure only where it is all that was asked."""

import json

import pytest
from command_line import attnconf

from attnconf.conformance.engine.request import Unjudgeable
from attnconf.conformance.run.implementations import load

HIDE = "import sys\nsys.modules['rotary_embedding_torch'] = None\n"
LINE = "not run: needs rotary_embedding_torch, pip install 'attention-conformance[positions]'"


@pytest.fixture
def without(tmp_path):
    """Return a folder in which Python starts without rotary-embedding-torch."""
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    return tmp_path


def test_beside_others_it_is_skipped(without):
    done = attnconf(
        "run", "--impl", "rotary_embedding_torch", "--impl", "torch_sdpa:math", "--results", "r.json",
        cwd=without, PYTHONPATH=str(without),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"rotary_embedding_torch: NOT-GRADABLE; {LINE}" in done.stdout.splitlines()
    verdicts = json.loads((without / "r.json").read_text())["verdicts"]
    assert [(v["verdict"], v["reason"]) for v in verdicts if v["component"] is None] == [("not-gradable", LINE)]
    assert sum(v["verdict"] == "conformant" for v in verdicts) == 2


def test_alone_it_fails_the_run(without):
    done = attnconf("run", "--impl", "rotary_embedding_torch", cwd=without, PYTHONPATH=str(without))
    assert done.returncode == 1
    assert f"rotary_embedding_torch: NOT-GRADABLE; {LINE}" in done.stdout.splitlines()
    assert "Traceback" not in done.stdout + done.stderr


def test_it_is_listed_all_the_same(without):
    done = attnconf("list", "implementations", cwd=without, PYTHONPATH=str(without))
    assert any(line.startswith("rotary_embedding_torch ") for line in done.stdout.splitlines())


@pytest.fixture
def hidden(monkeypatch):
    """Hide a module, and forget the adapters that were imported with it."""
    import sys

    def hide(module, adapter):
        monkeypatch.delitem(sys.modules, f"attnconf.adapters.{adapter}", raising=False)
        monkeypatch.setitem(sys.modules, module, None)

    return hide


def test_a_variant_is_named_as_it_was_asked_for(hidden):
    hidden("transformers", "transformers_bias")
    (found,) = load("transformers_bias:t5")
    assert found.name == "transformers_bias:t5"
    assert found.reason == "not run: needs transformers, pip install 'attention-conformance[hf]'"
    assert found.lacking


@pytest.mark.parametrize("module", ["equinox", "flax", "keras"])
def test_frameworks_other_than_torch_may_be_missing(module, hidden):
    hidden(module, f"{module}_layers")
    (found,) = load(f"{module}_layers")
    assert found.lacking
    assert found.reason.startswith(f"not run: needs {module}")


def test_a_package_that_no_extra_brings_is_named_without_advice(hidden):
    hidden("torch", "torch_sdpa")
    (found,) = load("torch_sdpa")
    assert isinstance(found, Unjudgeable)
    assert found.reason == "not run: needs torch"


def test_a_module_of_ours_that_is_missing_is_no_lack_of_the_environment(hidden):
    hidden("attnconf.adapters", "einops_separate")
    (found,) = load("einops_separate")
    assert not found.lacking
    assert found.reason.startswith("importing it raised ModuleNotFoundError")


def test_what_somebody_else_needs_is_said_as_it_was_raised(tmp_path):
    (tmp_path / "mine.py").write_text("import flax_of_tomorrow\n")
    (found,) = load(str(tmp_path / "mine.py"))
    assert not found.lacking
    assert found.reason == "importing it raised ModuleNotFoundError: No module named 'flax_of_tomorrow' (line 1)"
