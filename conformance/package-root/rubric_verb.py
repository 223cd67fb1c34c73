"""``attnconf rubric list | new | check``: what a homework asks for, before anything is graded. Without torch."""

import argparse
import shutil
from pathlib import Path

from attnconf.exit_codes import OK, UsageError


def add_options(verb: argparse.ArgumentParser) -> None:
    """Declare the verbs inside, and the functions that carry them out."""
    verb.description = "A rubric says what a homework asks for, and how many points that is worth. It is a TOML file."
    inside = verb.add_subparsers(metavar="list | new | check", required=True)
    listing = inside.add_parser("list", help="the rubrics that ship", allow_abbrev=False)
    listing.set_defaults(act=_list)
    new = inside.add_parser("new", help="a rubric to start from, with comments", allow_abbrev=False)
    new.add_argument("--component", required=True, metavar="NAME", help="what it is about: multi_head_attention, …")
    new.add_argument("-o", "--output", type=Path, metavar="FILE.toml", help="write there instead of printing")
    new.add_argument("--force", action="store_true", help="overwrite FILE.toml, and what was edited in it")
    new.set_defaults(act=_new)
    check = inside.add_parser("check", help="what a rubric gives points for, or what is wrong", allow_abbrev=False)
    check.add_argument("rubric", metavar="RUBRIC", help="a .toml file, or the name of one that ships")
    check.set_defaults(act=_check)


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
        text = new_rubric.text(arguments.component)
        if output is None:
            print(text, end="")
        else:
            write_text(output, text)
            print(f"written: {output}; attnconf rubric check {output} tells what it gives points for")
    except RubricError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    return OK


def _check(arguments: argparse.Namespace) -> int:
    from attnconf.conformance.grading import overview, rubric_text
    from attnconf.conformance.grading.rubric import RubricError

    try:
        rubric = rubric_text.load(arguments.rubric)
    except RubricError as error:
        raise UsageError(str(error)) from None
    print("\n".join(overview.lines(rubric, shutil.get_terminal_size((120, 24)).columns)))
    return OK
