"""``attnconf rubric list | new | check | platforms | course``: what a homework asks for, before anything is graded.

Without torch, but where a solution is judged.
"""

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from attnconf import with_course
from attnconf.exit_codes import FAILED, OK, UsageError

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric

PLATFORMS = """
Until the suite is on PyPI both need its wheel beside them: in a checkout of it
  pip wheel . --no-deps -w {0}/gradescope && cp {0}/gradescope/*.whl {0}/classroom/.github/attnconf/
Gradescope: zip the files of {0}/gradescope (not the folder), and upload that as the autograder.
GitHub Classroom: commit {0}/classroom/.github into the template repository of the assignment. Whoever can read that
reads the rubric, and the course where there is one."""
_SOLUTION = "your own solution, judged as a submission is"


def add_options(verb: argparse.ArgumentParser) -> None:
    """Declare the verbs inside, and the functions that carry them out."""
    verb.description = "A rubric says what a homework asks for, and how many points that is worth. It is a TOML file."
    inside = verb.add_subparsers(metavar="list | new | check | platforms | course", required=True)
    listing = inside.add_parser("list", help="the rubrics that ship", allow_abbrev=False)
    listing.set_defaults(act=_list)
    new = inside.add_parser("new", help="a rubric to start from, with comments", allow_abbrev=False)
    new.add_argument("--component", required=True, metavar="NAME", help="what it is about: multi_head_attention, …")
    new.add_argument("--solution", type=Path, metavar="FILE", help=_SOLUTION + "; what it does not pass is left out")
    new.add_argument("-o", "--output", type=Path, metavar="FILE.toml", help="write there instead of printing")
    new.add_argument("--force", action="store_true", help="overwrite FILE.toml, and what was edited in it")
    with_course.add_option(new)
    new.set_defaults(act=_new)
    check = inside.add_parser("check", help="what a rubric gives points for, or what is wrong", allow_abbrev=False)
    check.add_argument("rubric", metavar="RUBRIC", help="a .toml file, or the name of one that ships")
    check.add_argument("--solution", type=Path, metavar="FILE", help=_SOLUTION + "; exit code 1 if it lacks points")
    with_course.add_option(check)
    check.set_defaults(act=_check)
    platforms = inside.add_parser(
        "platforms", help="an autograder for Gradescope, a workflow for GitHub Classroom", allow_abbrev=False
    )
    platforms.add_argument("rubric", metavar="RUBRIC", help="a .toml file, or the name of one that ships")
    platforms.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write both")
    with_course.add_option(platforms)
    platforms.set_defaults(act=_platforms)
    course = inside.add_parser("course", help="a course to start from: requirements of your own", allow_abbrev=False)
    course.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write it")
    course.set_defaults(act=_write_course)


def _list(arguments: argparse.Namespace) -> int:
    from attnconf.conformance.grading import rubric_text

    for name in rubric_text.shipped():
        rubric = rubric_text.load(name)
        print(f"{name:<22}{rubric.points:g} points  {rubric.title}")
    print(f"\nTo change one, copy it from {rubric_text.SHIPPED}")
    return OK


def _new(arguments: argparse.Namespace) -> int:
    from attnconf.conformance.grading import new_rubric
    from attnconf.conformance.grading.rubric import RubricError
    from attnconf.reports.record import write_text

    output: Path | None = arguments.output
    if output is not None and output.exists() and not arguments.force:
        raise UsageError(f"{output} is there already, and may have been edited: --force overwrites it")
    try:
        text = new_rubric.text(arguments.component, _offered(arguments))
        if output is None:
            print(text, end="")
        else:
            write_text(output, text)
            more = f" --with {arguments.course}" if arguments.course else ""
            print(f"written: {output}; attnconf rubric check {output}{more} tells what it gives points for")
    except RubricError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    return OK


def _offered(arguments: argparse.Namespace) -> set[str] | None:
    if arguments.solution is None:
        return None
    from attnconf.conformance.grading import solution

    return solution.offered(arguments.solution, arguments.component)


def _check(arguments: argparse.Namespace) -> int:
    from attnconf.conformance.grading import overview
    from attnconf.conformance.grading.rubric import RubricError

    rubric = _loaded(arguments.rubric)
    if rubric.course:
        from attnconf.conformance.run import course_rules

        course_rules.demand()
    print("\n".join(overview.lines(rubric, shutil.get_terminal_size((120, 24)).columns)))
    if arguments.solution is None:
        return OK
    from attnconf.conformance.grading import solution

    try:
        grade, plan = solution.graded(arguments.solution, rubric)
    except RubricError as error:
        raise UsageError(str(error)) from None
    wrong = [*overview.gaps(rubric, plan), *solution.lacks(grade)]
    print("\n".join(["", *(wrong or [f"your solution earns all {grade.points:g} points"])]))
    return FAILED if wrong else OK


def _platforms(arguments: argparse.Namespace) -> int:
    import attnconf
    from attnconf.reports.grades.autograder import autograder
    from attnconf.spec import courses

    rubric = _loaded(arguments.rubric)
    try:
        own = courses.files(Path(rubric.course)) if rubric.course else {}
        for path in autograder(arguments.output, rubric, attnconf.__version__, own):
            print(path)
        print(PLATFORMS.format(arguments.output))
    except OSError as error:
        raise UsageError(f"cannot write in {str(arguments.output)!r}: {error.strerror or error}") from None
    return OK


def _write_course(arguments: argparse.Namespace) -> int:
    from attnconf.conformance.grading.rubric_text import SHIPPED
    from attnconf.spec import courses

    folder: Path = arguments.output
    courses.demand_name(folder)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{str(folder)!r} is there already, and is left alone")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in courses.files(SHIPPED.with_name("course")).items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {str(folder)!r}: {error.strerror or error}") from None
    print(f"written: {folder}: {', '.join(courses.FILES)}; attnconf rubric check RUBRIC --with {folder} judges it")
    return OK


def _loaded(name: str) -> "Rubric":
    from attnconf.conformance.grading import rubric_text
    from attnconf.conformance.grading.rubric import RubricError

    try:
        return rubric_text.load(name)
    except RubricError as error:
        raise UsageError(str(error)) from None
