"""A course's own requirements, ``--with course/``: used, held to the suite's rules, and graded by."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from command_line import attnconf, in_process
from skeleton_class import submissions

RUBRIC = """\
title = "Our own"
components = ["multi_head_attention"]

[[item]]
name = "Scores"
points = 10
requirements = ["ATT-SCALE-1"]

[[item]]
name = "Our own"
points = 10
chapter = "hw"
"""
BY_LENGTH = ("weights = F.softmax(scores, -1)", "weights = F.softmax(scores, -1) / math.sqrt(scores.shape[-1])")


@pytest.fixture
def course(tmp_path):
    """The course that ships, and a rubric that asks for it."""
    assert in_process("rubric", "course", "-o", "course", cwd=tmp_path).returncode == 0
    (tmp_path / "hw.toml").write_text(RUBRIC, encoding="utf-8")
    return tmp_path / "course"


def changed(course, name, old, new):
    text = (course / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (course / name).write_text(text.replace(old, new), encoding="utf-8")


def test_the_course_that_ships_holds_to_the_rules(course):
    done = attnconf("rubric", "check", "hw.toml", "--with", "course", cwd=course.parent)
    assert done.returncode == 0, done.stderr
    assert "    10             2  Our own" in done.stdout


def test_it_is_left_alone_where_it_is_written_already(course):
    done = in_process("rubric", "course", "-o", "course", cwd=course.parent)
    assert (done.returncode, done.stderr) == (2, "ERROR: 'course' is there already, and is left alone\n")


def test_without_it_its_requirements_are_unknown(course):
    done = in_process("rubric", "check", "hw.toml", cwd=course.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("ERROR: hw.toml:12: no chapter 'hw' has requirements on the component; there are ")


# What breaks a rule: the file, a part of it and what stands in its place, and what is said.
BROKEN = {
    "no mutant": ("mutants.py", '"HW-SHORT-1"}', '"HW-COPIES-1"}', "HW-SHORT-1: no mutant breaks it"),
    "a mutant that changes nothing": ("mutants.py", "out + q", "out", "HW-adds-query says that it breaks HW-SHORT-1"),
    "a check that cannot fail": ("checks.py", "repeat(1, 3, 1)", "repeat(1, 1, 1)",
                                 "HW-by-length says that it breaks HW-COPIES-1, which passes"),
    "a check that the reference fails": ("checks.py", "want.expand(-1, case.L, -1)", "want.expand(-1, case.L, -1) * 2",
                                         "HW-SHORT-1: the reference does not pass it on multi_head_attention: out["),
    "a check that raises": ("checks.py", "w = layer.weights", "w = layer.wheights",
                            "does not pass it on multi_head_attention: the course's check raises AttributeError: "),
    "a check that raises on a layer without biases": (
        "checks.py", 'w.get("v.bias")', 'w["v.bias"]',
        "HW-SHORT-1: the course's check raises KeyError: 'v.bias' (checks.py:"),
    "an excuse that there is not": ("mutants.py", "Vacuous(NUMBERS", "Vacuous((*NUMBERS, 'zeroes')",
                                    "no 'zeroes'; nearest: zeros"),
    "a mutant without the prefix": ("mutants.py", '"HW-adds-query"', '"adds query"',
                                    "a mutant is called 'adds query': want HW-"),
    "what computes nothing passes": ("mutants.py", "VACUOUS = ", "EXCUSES = ",
                                     "HW-COPIES-1: what returns zeros passes it on multi_head_attention"),
    "a root that is not named": ("checks.py", "3, 1)", "3, 1).sign()", "which its breaks does not name"),
    "it cannot be run": ("checks.py", "ONE_KEY = tuple", "ONE_KEY = tupel", ": NameError: name 'tupel' is not defined"),
    "it is no Python": ("mutants.py", "import math", "import math as", "mutants.py:3: SyntaxError"),
    "no check": ("checks.py", '@requirement("HW-SHORT-1", ONE_KEY)\n', "", "HW-SHORT-1 has no check"),
}  # fmt: skip
RUN = """
import os, sys
from pathlib import Path
from attnconf.conformance.run import course_rules
from attnconf.spec import courses
from attnconf.spec.registry import SpecError
for folder in sys.argv[1:]:
    if os.fork() == 0:
        try:
            courses.use(Path(folder))
            course_rules.demand()
        except SpecError as error:
            Path(folder, "said").write_text(str(error), encoding="utf-8")
        os._exit(0)
    os.wait()
"""


def test_a_course_that_breaks_a_rule_is_refused(course):

    folders = {}
    for number, (what, (name, old, new, _)) in enumerate(BROKEN.items()):
        folder = folders[what] = course.with_name(f"broken{number}")
        shutil.copytree(course, folder)
        changed(folder, name, old, new)
    subprocess.run([sys.executable, "-c", RUN, *map(str, folders.values())], check=True, timeout=300,
                   env=os.environ | {"OMP_NUM_THREADS": "1"})  # fmt: skip
    told = {what: (folder / "said").read_text(encoding="utf-8") for what, folder in folders.items()}
    assert {what: BROKEN[what][3] for what in BROKEN if BROKEN[what][3] not in told[what]} == {}, told


@pytest.mark.parametrize(("name", "old", "new", "said"), [
    ("course.toml", 'prefix = "HW"', 'prefix = "hw"', 'want prefix = "HW", capitals'),
    ("course.toml", 'prefix = "HW"', 'prefix = "ATT"', "prefix 'ATT', chapter 'att': the specification has one"),
    ("course.toml", "attention.direct]", "attention.drect]", "no profile has a section [multi_head_attention.drect]"),
    ("course.toml", "required =", "requierd =", "[multi_head_attention.direct] has 'requierd'"),
    ("course.toml", ', "HW-COPIES-1"', "", "HW-COPIES-1 is on requirements.md, and asked of no component"),
    ("course.toml", '"HW-COPIES-1"]', '"HW-COPIES-1", "HW-MORE-1"]', "unknown requirement 'HW-MORE-1'"),
    ("course.toml", "[multi", "multi", "this is not TOML"),
    ("requirements.md", "MUST return", "must return", "requirements.md:11: HW-COPIES-1 must be one sentence"),
])  # fmt: skip
def test_a_page_or_table_of_another_form_is_told_in_one_line(course, name, old, new, said):
    changed(course, name, old, new)
    done = attnconf("explain", "HW-SHORT-1", "--with", "course", cwd=course.parent)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_what_is_no_course_is_told(course):
    (course / "mutants.py").unlink()
    done = in_process("explain", "HW-SHORT-1", "--with", "course", cwd=course.parent)
    assert done.stderr.startswith("ERROR: 'course' is no course: it has no mutants.py")
    assert in_process("explain", "HW-SHORT-1", "--with", "none", cwd=course.parent).returncode == 2


def test_a_mistake_that_only_the_course_knows_is_graded_and_named(course):
    """Its other checks pass: the process that binds knows the course's mistakes, too."""
    (text,) = submissions(1)
    (course.parent / "all").mkdir()
    (course.parent / "all" / "right.py").write_text(text, encoding="utf-8")
    (course.parent / "all" / "wrong.py").write_text(text.replace(*BY_LENGTH), encoding="utf-8")
    words = ("grade", "all", "--rubric", "hw.toml", "--with", "course", "--out", "out", "--seed", "1")
    done = attnconf(*words, cwd=course.parent)
    assert done.returncode == 0, done.stderr
    assert [line.split()[:4] for line in done.stdout.splitlines()[:2]] == [
        ["right.py", "20", "of", "20"], ["wrong.py", "15", "of", "20"],
    ]  # fmt: skip
    page = (course.parent / "out" / "students" / "wrong.py.md").read_text(encoding="utf-8")
    assert "likely    the weights are divided by √S, the square root of the number of keys" in page
    assert "spec      course/requirements.md#hw-copies-1" in page
    (course / "checks.py").write_text((course / "checks.py").read_text(encoding="utf-8") + "# ", encoding="utf-8")
    again = attnconf(*words, cwd=course.parent)
    assert (again.returncode, again.stderr) == (
        2, "ERROR: it was begun with another course: give another --out, or --anew to begin again\n",
    )  # fmt: skip


def test_results_say_which_course_was_used(course):
    (course.parent / "mine.py").write_text(next(submissions(1)), encoding="utf-8")
    words = ("run", "mine.py", "--with", "course", "-k", "HW-", "--results", "mine.json")
    done = attnconf(*words, cwd=course.parent)
    assert "thread(s), seed 0, course course" in done.stdout
    content = json.loads((course.parent / "mine.json").read_text(encoding="utf-8"))
    assert content["suite"]["course"]["name"] == "course"
    assert {r["requirement"]: r["outcome"] for r in content["results"]} == {"HW-SHORT-1": "pass", "HW-COPIES-1": "pass"}


def test_an_autograder_takes_the_course_with_it(course):
    done = attnconf("rubric", "platforms", "hw.toml", "--with", "course", "-o", "made", cwd=course.parent)
    assert done.returncode == 0, done.stderr
    made = course.parent / "made" / "gradescope"
    assert (made / "course" / "checks.py").read_bytes() == (course / "checks.py").read_bytes()
    assert (
        '--rubric "$root/source/rubric.toml" --with "$root/source/course" --out'
        in (made / "run_autograder").read_text()
    )


def test_a_check_that_raises_costs_its_own_requirement(course):
    """The suite is not to blame, nor is the submission: all else is graded, and the instructor is told."""
    changed(course, "checks.py", "w = layer.weights", "w = layer.weights if not subject.implementation.binding else 0")
    (text,) = submissions(1)
    (course.parent / "all").mkdir()
    (course.parent / "all" / "right.py").write_text(text, encoding="utf-8")
    done = attnconf("grade", "all", "--rubric", "hw.toml", "--with", "course", "--out", "out", cwd=course.parent)
    assert done.stdout.startswith("right.py"), done.stderr
    assert "15 of 20" in done.stdout.splitlines()[0]
    raises = "the course's check raises TypeError: 'int' object is not subscriptable (checks.py:"
    page = (course.parent / "out" / "students" / "right.py.md").read_text(encoding="utf-8")
    assert f"found     {raises}" in page
    record = json.loads((course.parent / "out" / "records" / "right.py.json").read_text(encoding="utf-8"))
    assert [v["verdict"] for v in record["results"]["verdicts"]] == ["conformant"]
