"""The folders for Gradescope and GitHub Classroom: the programs in them, run as a platform runs them."""

import base64
import json
import os
import subprocess
import sys

import pytest
import yaml
from made_grades import RUBRIC, WRONG, WRONG_RECORD, batch, regraded, with_item
from test_outputs_platforms import obey_gradescope, strictly

from attnconf.reports.grades import classroom, gradescope, told
from attnconf.reports.grades.autograder import autograder
from attnconf.reports.grades.writing import as_json


def of_gradescope(rubric, grade):
    return as_json(gradescope.results(batch(), rubric, grade, WRONG_RECORD, told.texts(rubric, grade, WRONG_RECORD)))


GRADED = of_gradescope(RUBRIC, WRONG)
# What stands in for attnconf: it says how it was called, and does what the variable DOES says.
STAND_IN = """#!/usr/bin/env bash
printf '%s\\n' "$@" > "$SAID"
eval "$DOES"
"""
WRITES = 'mkdir -p "$7/gradescope" && cp "$GRADED" "$7/gradescope/s.json"'


@pytest.fixture
def folder(tmp_path):
    autograder(tmp_path / "made", RUBRIC, "0.1.0")
    return tmp_path / "made"


@pytest.fixture
def graded(tmp_path, folder):
    """Return a function that runs the autograder with a stand-in: the results, and the arguments of the call."""

    def graded(does):
        (tmp_path / "graded.json").write_text(GRADED, encoding="utf-8")
        program = tmp_path / "bin" / "attnconf"
        program.parent.mkdir()
        program.write_text(STAND_IN, encoding="utf-8")
        program.chmod(0o755)
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "source").symlink_to(folder / "gradescope")
        python = os.path.dirname(sys.executable)
        environment = {
            **os.environ, "AUTOGRADER_ROOT": str(tmp_path / "root"), "AUTOGRADER_OUT": str(tmp_path / "out"),
            "AUTOGRADER_BIN": f"{program.parent}:{python}", "SAID": str(tmp_path / "said"), "DOES": does,
            "GRADED": str(tmp_path / "graded.json"),
        }  # fmt: skip
        subprocess.run([folder / "gradescope" / "run_autograder"], env=environment, check=True, capture_output=True)
        found = strictly((tmp_path / "root/results/results.json").read_text("utf-8"))
        obey_gradescope(found)
        return found, (tmp_path / "said").read_text("utf-8").split("\n")[:-1]

    return graded


def test_the_autograder_copies_the_results(graded, tmp_path):
    found, said = graded(WRITES)
    assert found["score"] == 2
    root = tmp_path / "root"
    assert said == [
        "grade", f"{root}/submission", "--one", "--rubric", f"{root}/source/rubric.toml", "--out", f"{tmp_path}/out"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "does",
    [
        "exit 1", "kill -9 $$", "true", f"{WRITES}; exit 3", f'{WRITES}; cp "$GRADED" "$7/gradescope/t.json"',
        'mkdir -p "$7/gradescope"; : > "$7/gradescope/s.json"',
        'mkdir -p "$7/gradescope"; echo "{" > "$7/gradescope/s.json"',
    ],
    ids=["fails", "killed", "silent", "writes and fails", "two", "empty", "no JSON"],
)  # fmt: skip
def test_the_autograder_gives_nothing_where_something_failed(graded, does):
    found, _ = graded(does)
    assert found["score"] == 0
    assert [t["max_score"] for t in found["tests"]] == [2, 3, 4]


def test_the_folder_holds_programs_and_the_rubric(folder):
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "gradescope/setup.sh", "gradescope/run_autograder", "gradescope/rubric.toml", "gradescope/failed.json",
        "classroom/.github/workflows/classroom.yml", "classroom/.github/attnconf/rubric.toml",
        "classroom/.github/attnconf/failed.json",
    }  # fmt: skip
    for program in ("setup.sh", "run_autograder"):
        path = folder / "gradescope" / program
        assert os.access(path, os.X_OK)
        subprocess.run(["bash", "-n", path], check=True)
        assert "@SUITE@" not in path.read_text("utf-8")
    assert "'attention-conformance==0.1.0'" in (folder / "gradescope/setup.sh").read_text("utf-8")
    assert (folder / "gradescope/rubric.toml").read_text("utf-8") == RUBRIC.text


def test_the_workflow_gives_the_reporter_what_it_reads(folder, tmp_path):
    text = (folder / "classroom/.github/workflows/classroom.yml").read_text("utf-8")
    steps = {step.get("name"): step for step in yaml.safe_load(text)["jobs"]["run-autograding-tests"]["steps"]}
    runner = steps["Report"]["with"]["runners"]
    assert f"{runner.upper()}_RESULTS" in steps["Report"]["env"]
    command = steps["Grade"]["run"].replace(".github/", f"{folder}/classroom/.github/")
    environment = {
        **os.environ, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "said"),
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
    }  # fmt: skip
    assert "attnconf grade . --one " in command
    command = command.replace("attnconf grade . ", "false ")
    subprocess.run(["bash", "-eo", "pipefail", "-c", command], env=environment, check=True)
    name, _, content = (tmp_path / "said").read_text("utf-8").strip().partition("=")
    assert name == "result"
    found = strictly(base64.b64decode(content))
    assert (found["status"], found["max_score"], sum(t["score"] for t in found["tests"])) == ("fail", 9, 0)


def test_classroom_sums_the_visible_points(tmp_path):
    rubric, made = (f(x, "Masks", visibility="hidden") for f, x in ((with_item, RUBRIC), (regraded, WRONG)))
    (tmp_path / "gradescope").mkdir()
    (tmp_path / "gradescope/bob.json").write_text(of_gradescope(rubric, made), encoding="utf-8")
    found = json.loads(base64.b64decode(classroom.output(tmp_path, tmp_path / "none").removeprefix("result=")))
    assert found["version"] == 1
    assert found["max_score"] == 6
    assert [(t["name"], t["status"], t["score"]) for t in found["tests"]] == [
        ("Scale", "fail", 0), ("All of it", "fail", 2),
    ]  # fmt: skip
