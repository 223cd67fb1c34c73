"""``attnconf run``: its options, and pytest's arguments for them. pytest is imported when something is judged."""

import argparse
import os
import sys
from pathlib import Path

from attnconf import with_course
from attnconf.conformance.engine.catalogue import CALL_SECONDS, ENDED_EARLY, HOW_TO_NAME, ISOLATE, RIGHTS
from attnconf.exit_codes import FAILED, INTERNAL, INTERRUPTED, OK, USAGE, UsageError


def add_options(verb: argparse.ArgumentParser) -> None:
    """Declare the options of the verb, and the function that carries it out."""
    verb.description = f"Judge implementations; the same as `pytest conformance` in a checkout. Beware: {RIGHTS}."
    verb.add_argument("names", nargs="*", metavar="NAME", help="as --impl NAME")
    verb.add_argument("--impl", action="append", default=[], metavar="NAME", help=HOW_TO_NAME)
    verb.add_argument("--results", metavar="FILE.json", help="write everything to this file")
    verb.add_argument("--profile", metavar="NAME", help="what a verdict requires")
    verb.add_argument("--strict", action="store_true", help="let a SHOULD count like a MUST")
    verb.add_argument("--thorough", action="store_true", help="also explore around the scored cases; never scored")
    verb.add_argument("--blind-spots", action="store_true", help=(
        "list what no check executed of your own file; on in a full profile (needs the extra coverage)"))  # fmt: skip
    verb.add_argument("--convention", action="append", default=[], metavar="NAME=CHOICE", help=(
        "take one choice alone for right, as in mask=true-keeps or norm-order=pre; spec/choices.md has all; may be "
        "given several times"))  # fmt: skip
    verb.add_argument("--throughput", nargs="?", const="smoke", choices=("smoke", "grid"), help=(
        "also count what a call costs, and time it beside an anchor (default: smoke, a few cases)"))  # fmt: skip
    verb.add_argument("--strict-perf", action="store_true", help="let a time that is not FASTER or SAME fail")
    with_course.add_option(verb)
    verb.add_argument("--seed", type=int, metavar="N", help="draw other numbers for the cases (default: 0)")
    verb.add_argument("--isolate", action="store_true", help=ISOLATE)
    verb.add_argument("--call-seconds", type=float, metavar="S", help=CALL_SECONDS)
    verb.add_argument("--device", metavar="NAME", help="where tensors live: cpu, cuda, … (default: cpu)")
    verb.add_argument("-k", metavar="EXPR", help='only these requirements and cases: -k "ATT-SCALE-1 and peaked-3"')
    verb.add_argument("-v", action="store_true", help="more output: the table of requirements, everything in full")
    verb.add_argument("-q", action="store_true", help="less output: the verdicts, and what to mend")
    verb.add_argument("-x", action="store_true", help="stop at the first failure")
    verb.set_defaults(act=run, early=ENDED_EARLY)


def run(arguments: argparse.Namespace) -> int:
    """Judge with pytest, and return the exit code. Raises UsageError if there is nothing to judge."""
    if not (arguments.names or arguments.impl):
        raise UsageError(
            "which implementation? give --impl NAME (attnconf list implementations shows the shipped ones)"
        )
    for variable in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # options for the user's own tests
        os.environ.pop(variable, None)
    import pytest

    code = pytest.main(pytest_arguments(arguments))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("ERROR: nothing was judged", file=sys.stderr)
    return {
        pytest.ExitCode.OK: OK,
        pytest.ExitCode.TESTS_FAILED: FAILED,
        pytest.ExitCode.INTERRUPTED: INTERRUPTED,
        pytest.ExitCode.USAGE_ERROR: USAGE,
        pytest.ExitCode.NO_TESTS_COLLECTED: USAGE,
    }.get(pytest.ExitCode(code), INTERNAL)


def pytest_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return pytest's arguments for the packaged suite, without any configuration file of the user's folder."""
    suite = Path(_conformance_folder())
    fixed = [
        "-c",
        str(suite / "run.ini"),
        f"--rootdir={suite.parent}",
        "--pyargs",
        "attnconf.conformance.test_conformance",
        *(["attnconf.conformance.test_throughput"] if arguments.throughput else []),
    ]
    names = ("results", "profile", "throughput", "seed", "device", "call-seconds")
    valued = [(f"--{name}", getattr(arguments, name.replace("-", "_"))) for name in names]
    options = [f"{option}={value}" for option, value in valued if value is not None]
    options += [f"--convention={word}" for word in arguments.convention]
    switches = ("strict", "thorough", "blind-spots", "strict-perf", "isolate")
    flags = [f"--{name}" for name in switches if getattr(arguments, name.replace("-", "_"))]
    flags += [f"-{name}" for name in ("v", "q", "x") if getattr(arguments, name)]
    select = ["-k", arguments.k] if arguments.k is not None else []
    return [*fixed, *(f"--impl={name}" for name in (*arguments.names, *arguments.impl)), *options, *flags, *select]


def _conformance_folder() -> str:
    import attnconf.conformance

    return attnconf.conformance.__path__[0]
