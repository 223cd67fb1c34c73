"""Folders to hand to a platform: an autograder for Gradescope, and a workflow for GitHub Classroom."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attnconf.reports.grades import gradescope
from attnconf.reports.grades.writing import as_json
from attnconf.reports.record import write_bytes, write_text

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric

TEMPLATES = Path(__file__).parent / "templates"
# What is put where in the folder: a template, the rubric, or the results of what could not be graded.
PLACES = {
    "gradescope/setup.sh": "setup.sh",
    "gradescope/run_autograder": "run_autograder",
    "gradescope/rubric.toml": "rubric",
    "gradescope/failed.json": "failed",
    "classroom/.github/workflows/classroom.yml": "classroom.yml",
    "classroom/.github/attnconf/rubric.toml": "rubric",
    "classroom/.github/attnconf/failed.json": "failed",
}
PROGRAMS = ("gradescope/setup.sh", "gradescope/run_autograder")


def autograder(folder: Path, rubric: "Rubric", version: str = "", own: Mapping[str, bytes] | None = None) -> list[Path]:
    """Write both folders, and return the paths of their files.

    What is in ``gradescope/`` is what to zip; what is in ``classroom/`` belongs into the template of the assignment.
    ``version``: of the suite, to pin; ``own``: the files of the rubric's course. Raises OSError where the folder cannot
    be written.
    """
    suite = f"attention-conformance{f'=={version}' if version else ''}"
    texts = {"rubric": rubric.text, "failed": as_json(gradescope.failed(rubric))}
    own = own or {}
    beside = [place.rpartition("/")[0] for place, name in PLACES.items() if name == "rubric"]
    places = PLACES | {f"{there}/course/{name}": name for there in beside for name in own}
    written = []
    for place, name in places.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in own:
            write_bytes(path, own[name])
        else:
            write_text(path, texts[name] if name in texts else _filled(name, suite, bool(own)))
        if place in PROGRAMS:
            path.chmod(path.stat().st_mode | 0o111)
        written.append(path)
    return written


def _filled(name: str, suite: str, with_course: bool) -> str:
    """Return a template with the suite's name, and with the course's folder beside the rubric, where there is one."""
    text = (TEMPLATES / name).read_text("utf-8").replace("@SUITE@", suite)
    return re.sub(r"@COURSE (.*?)@", r" --with \1" if with_course else "", text)
