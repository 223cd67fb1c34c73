"""``--with FOLDER``: a course that brings requirements, cases and mutants of its own, used before the verb acts."""

import argparse
import shlex
from pathlib import Path

HELP = (
    "a course: requirements, checks and mutants of your own, judged with those of the suite; `attnconf rubric course` "
    "writes one to start from"
)


def add_option(verb: argparse.ArgumentParser) -> None:
    """Declare the option."""
    verb.add_argument("--with", dest="course", type=Path, metavar="FOLDER", help=HELP)


def use(arguments: argparse.Namespace) -> None:
    """Use the course that was asked for, if one was. Raises SpecError where it is none."""
    folder: Path | None = getattr(arguments, "course", None)
    if folder is not None:
        from attnconf.spec import courses

        courses.use(folder, shlex.quote(str(folder)))
