"""``attnconf mutate``: its options; machine-made changes of a file, judged. torch is imported when something is."""

import argparse
import json
import sys
from pathlib import Path

from attnconf.exit_codes import FAILED, OK, UsageError


def add_options(verb: argparse.ArgumentParser) -> None:
    """Declare the options of the verb, and the function that carries it out."""
    verb.description = (
        "Change one place of a file at a time, and ask which of the changes that alter what it computes the suite "
        "would reject. Exit code 1 if one survives."
    )
    verb.add_argument("what", metavar="FILE", help="a .py file or a notebook, optionally with :Class and @component")
    verb.add_argument(
        "--limit", type=int, default=60, metavar="N", help="how many changes, drawn from all (default: 60)"
    )
    verb.add_argument("--seed", type=int, default=0, metavar="S", help="draw others (default: 0)")
    verb.add_argument("--json", type=Path, metavar="OUT", help="also write everything to this file")
    verb.set_defaults(act=act)


def act(arguments: argparse.Namespace) -> int:
    """Judge the changes, print what became of them, and return the exit code. Raises UsageError."""
    from attnconf.conformance.mutating import told
    from attnconf.conformance.mutating.mutate import MutateError, mutate
    from attnconf.reports.record import write_text

    if arguments.limit < 1:
        raise UsageError(f"--limit {arguments.limit}: want 1 or more")
    try:
        result = mutate(arguments.what, arguments.limit, arguments.seed, tell=_tell)
    except MutateError as error:
        raise UsageError(str(error)) from None
    print("\n".join(told.lines(result)))
    if arguments.json is not None:
        try:
            write_text(arguments.json, json.dumps(told.data(result), indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write {str(arguments.json)!r}: {error.strerror or error}") from None
    return FAILED if any(o.survives for o in result.outcomes) else OK


def _tell(done: int, of: int) -> None:
    """Show how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r{done} of {of} changes", end="\n" if done == of else "", file=sys.stderr, flush=True)
