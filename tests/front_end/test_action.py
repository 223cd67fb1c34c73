"""The composite GitHub Action: its steps, run as a runner runs them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
JUDGE = ACTION["runs"]["steps"][1]
WRONG = ROOT / "tests" / "miniatures" / "homework.py"


@pytest.fixture
def judge(tmp_path):
    """Return a function that runs the step "Judge": the exit code, and the summary."""

    def judge(**inputs):
        values = {name: given.get("default", "") for name, given in ACTION["inputs"].items()} | inputs
        summary = tmp_path / "summary.md"
        summary.write_text("", encoding="utf-8")
        environment = {
            **os.environ, **{name.upper(): values[name] for name in values}, "GITHUB_STEP_SUMMARY": str(summary),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }  # fmt: skip
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", JUDGE["run"]]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8",
                              check=False, timeout=300)  # fmt: skip
        (tmp_path / "printed").write_text(done.stdout, encoding="utf-8")
        return done.returncode, summary.read_text(encoding="utf-8")

    return judge


def test_every_input_is_handed_over_by_the_environment():
    assert JUDGE["env"] == {name.upper(): f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    assert "${{" not in JUDGE["run"]  # what a pull request says is never part of a script


def test_what_is_wrong_fails_and_is_in_the_summary_but_only_until_it_is_known(judge, tmp_path):
    shutil.copy(WRONG, tmp_path)
    code, summary = judge(impl="\nhomework.py\n")
    assert code == 1
    assert summary.startswith("# homework.py: nonconformant")
    (tmp_path / "attention.json").rename(tmp_path / "last.json")
    code, summary = judge(impl="homework.py", baseline="last.json")
    assert code == 0
    assert "no regression" in summary


def test_what_got_worse_fails(judge, tmp_path):
    right = WRONG.read_text(encoding="utf-8").replace("math.sqrt(config.embed_dim)", "math.sqrt(q.shape[-1])")
    (tmp_path / "homework.py").write_text(right, encoding="utf-8")
    assert judge(impl="homework.py")[0] == 0
    shutil.copy(WRONG, tmp_path)
    code, summary = judge(impl="homework.py", baseline="attention.json")  # the same file, written anew
    assert code == 1
    assert "## Worse" in summary


def test_a_baseline_that_is_not_there_is_said_and_what_is_wrong_fails(judge, tmp_path):
    shutil.copy(WRONG, tmp_path)
    code, summary = judge(impl="homework.py", baseline="lsat.json")
    said = "There is no baseline lsat.json: nothing was compared"
    assert code == 1
    assert f"\n> {said}.\n" in summary
    assert f"::warning::{said}\n" in (tmp_path / "printed").read_text(encoding="utf-8")


def test_a_baseline_that_holds_no_results_is_bad_input(judge, tmp_path):
    shutil.copy(WRONG, tmp_path)
    (tmp_path / "last.json").write_text("", encoding="utf-8")
    assert judge(impl="homework.py", baseline="last.json")[0] == 2


def test_a_baseline_may_be_packed(judge, tmp_path):
    shutil.copy(WRONG, tmp_path)
    assert judge(impl="homework.py", results="attention.json.xz")[0] == 1
    code, summary = judge(impl="homework.py", results="attention.json.xz", baseline="attention.json.xz")
    assert code == 0
    assert "no regression" in summary


def test_what_is_not_there_is_bad_input(judge):
    assert judge(impl="nowhere.py") == (2, "")
