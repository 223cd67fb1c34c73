"""The command line: ``attnconf run | grade | rubric | bind | mutate | report | diff | …``; --help lists all verbs.

Bad input is answered in one line and exit code 2. Nothing here imports torch or pytest before a verb needs it.
"""

import argparse
import io
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import attnconf
from attnconf import grade_verb, mutate_verb, report_verb, rubric_verb, run_verb, with_course
from attnconf.conformance import lingering, watched
from attnconf.conformance.engine.catalogue import RIGHTS
from attnconf.exit_codes import EXIT_CODES, FAILED, INTERRUPTED, OK, USAGE, UsageError
from attnconf.spec import registry
from attnconf.spec.nearest import hint

KINDS = ("implementations", "chapters", "requirements", "mutants", "profiles")  # of things to list
SHOWN = (
    "attention", "multi_head_attention", "sinusoidal", "sinusoidal_2d", "learned", "rotary", "alibi", "relative_bias",
    "fourier", "random_fourier",
)  # fmt: skip

DESCRIPTION = "Judge implementations of attention, requirement by requirement."
EVERYDAY = """\
every day:
  attnconf run homework.py                     a file, as it is; also a notebook
  attnconf run homework.py:MyAttention         one class or function in it; also @encoder_layer, judged as that
  attnconf run torch.nn.LayerNorm              a class of an installed library
  attnconf run torch_nn keras_layers           several side by side
  attnconf run mine.py -k ATT-SCALE-1          one requirement; also -k "ATT-SCALE-1 and small-1", one case
  attnconf run mine.py --throughput            also what a call costs, and how fast it is
  attnconf explain ATT-SCALE-1                 a requirement, the reference, its check and its mutants
  attnconf bind homework.py -o mine.py         how a file is called and given weights, to be edited
  attnconf mutate mine.py                      which changes of the file the suite would reject
  attnconf rubric new --component rotary       what a homework asks for, and its points, to be edited
  attnconf run mine.py --results mine.json     everything, as data
  attnconf report mine.json -o report.html     a comparison to look at, of any number of results; also .md
  attnconf report --spec -o site/              the specification, to browse
  attnconf diff before.json after.json         what got worse, and what better

in Python: report = attnconf.check("mine.py"), also of a class, a function or a module
"""
BEWARE = textwrap.fill(f"beware: {RIGHTS}", 80)


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake in one line, with the nearest choice."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = hint(wrong[1], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        raise UsageError(f"{self.prog}: {message}{near}; {self.prog} --help tells more")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code, with which the process ends even if threads of a judged file go on."""
    code = _run(argv)
    lingering.end_with(code)
    watched.finish(code)
    return code


def _run(argv: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without √ is no reason to fail
    try:
        arguments, unknown = parser().parse_known_args(argv)
        if unknown:
            raise UsageError(f"unrecognized arguments: {' '.join(unknown)}{_meant(arguments, unknown[0])}")
        early = getattr(arguments, "early", None) if argv is None else None  # else a program calls, and goes on
        ended = watched.apart(early) if early else None
        if ended is not None:
            return ended
        with_course.use(arguments)
        code: int = arguments.act(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except (UsageError, registry.SpecError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # the reader closed the pipe: attnconf list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED


def _meant(arguments: argparse.Namespace, word: str) -> str:
    """Return the likely meaning of a word that no option takes, as the end of a message."""
    if arguments.act is not run_verb.run:
        return "; attnconf --help tells more"
    if word.startswith("--im"):
        return "; nearest: --impl"
    return "; attnconf run --help tells more" if word[0] == "-" else f"; to judge something: --impl {word}"


def parser() -> Parser:
    """Return the parser of all verbs; each sets ``act``, a function of the parsed arguments.

    A verb that runs somebody's code also sets ``early``, what to say where that code ends the process.
    """
    top = Parser(
        prog="attnconf", description=DESCRIPTION, epilog=f"{EVERYDAY}\n{BEWARE}\n\n{EXIT_CODES}", allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"attnconf {attnconf.__version__}")
    verbs = top.add_subparsers(metavar="verb", required=True, parser_class=Parser)
    run_verb.add_options(verbs.add_parser("run", help="judge implementations", epilog=EXIT_CODES, allow_abbrev=False))
    grade_verb.add_options(
        verbs.add_parser("grade", help="grade many submissions by a rubric", epilog=EXIT_CODES, allow_abbrev=False)
    )
    verb = verbs.add_parser("list", help="what there is: " + ", ".join(KINDS), allow_abbrev=False)
    verb.add_argument("kind", nargs="?", choices=KINDS, help="only these (default: all)")
    verb.set_defaults(act=_list)
    verb = verbs.add_parser("explain", help="a requirement, mutant, component, …, in full", allow_abbrev=False)
    verb.add_argument("id", help=(
        "of a requirement, mutant, chapter, component, convention, profile or case: ATT-SCALE-1, rotary, norm-order, "
        "core-3, readable-1"))  # fmt: skip
    with_course.add_option(verb)
    verb.set_defaults(act=_explain)
    _add_bind(
        verbs.add_parser("bind", help="how a file without an adapter is bound, as an adapter", allow_abbrev=False)
    )
    mutate_verb.add_options(
        verbs.add_parser("mutate", help="what the suite would notice: changes of a file, judged", allow_abbrev=False)
    )
    rubric_verb.add_options(
        verbs.add_parser("rubric", help="what a homework asks for, and its points", allow_abbrev=False)
    )
    verb = verbs.add_parser("doctor", help="versions, devices, and whether the suite is sound", allow_abbrev=False)
    verb.set_defaults(act=_doctor)
    report_verb.add_options(
        verbs.add_parser("report", help="a comparison from results files; the specification", allow_abbrev=False)
    )
    report_verb.add_diff_options(
        verbs.add_parser("diff", help="what changed between two results files", epilog=EXIT_CODES, allow_abbrev=False)
    )
    _add_show(
        verbs.add_parser(
            "show", help="a picture of an encoding, or of weights, beside the reference's", allow_abbrev=False
        )
    )
    _add_demo(verbs.add_parser("demo", help="a picture learned with an implementation", allow_abbrev=False))
    return top


def _add_bind(verb: argparse.ArgumentParser) -> None:
    verb.description = "Print the binding that is inferred for a file, a notebook or a class, as an adapter to edit."
    verb.add_argument("what", metavar="FILE", help=(
        "a .py file, a notebook or a dotted module, optionally with :ClassOrFunction and @component"))  # fmt: skip
    verb.add_argument("-o", "--output", type=Path, metavar="FILE.py", help="write there instead of printing")
    verb.add_argument("--force", action="store_true", help="overwrite FILE.py, and what was edited in it")
    verb.set_defaults(act=_bind, early="attnconf bind ended before the binding was written")


def _bind(arguments: argparse.Namespace) -> int:
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # before torch is imported
        os.environ.setdefault(variable, "1")
    from attnconf.conformance.inference import writing
    from attnconf.conformance.loading.find import LoadError
    from attnconf.reports.record import write_text

    if arguments.output is not None and arguments.output.exists() and not arguments.force:
        raise UsageError(f"{arguments.output} is there already, and may have been edited: --force overwrites it")
    try:
        text = writing.adapter(arguments.what)
        if arguments.output is None:
            print(text, end="")
        else:
            write_text(arguments.output, text)
    except LoadError as error:
        raise UsageError(_is_an_adapter(arguments.what) or str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(arguments.output)!r}: {error.strerror or error}") from None
    return OK


def _is_an_adapter(what: str) -> str | None:
    """Return a message if there is nothing to bind, as the file is an adapter."""
    from attnconf.conformance.loading import find, resolve
    from attnconf.conformance.worker import survey

    try:
        name, source = resolve.source_of(what)
    except find.LoadError:
        return None
    is_adapter = name.chosen is None and survey.is_adapter(source)
    return f"{what} is an adapter already: attnconf run --impl {what} judges it" if is_adapter else None


def _add_demo(verb: argparse.ArgumentParser) -> None:
    verb.description = "rose: a small network learns a picture from Fourier features, and from bare coordinates."
    verb.add_argument("what", choices=("rose",), help="which demonstration")
    verb.add_argument("--impl", required=True, metavar="NAME", help="whose component `fourier` to use, as for run")
    verb.add_argument("-o", "--output", type=Path, default=Path("rose.png"), metavar="FILE", help=(
        "where to write the picture, .png or .svg (default: rose.png)"))  # fmt: skip
    verb.add_argument("--steps", type=int, default=150, metavar="N", help="how long to learn (default: 150)")
    verb.set_defaults(act=_demo, early="attnconf demo ended before the picture was written")


def _list(arguments: argparse.Namespace) -> int:
    from attnconf import listing

    print("\n".join(listing.lines(arguments.kind)))
    return OK


def _explain(arguments: argparse.Namespace) -> int:
    from attnconf import explaining

    try:
        print("\n".join(explaining.explain(arguments.id)))
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    return OK


def _doctor(arguments: argparse.Namespace) -> int:
    from attnconf import doctor

    return OK if doctor.examine() else FAILED


def _add_show(verb: argparse.ArgumentParser) -> None:
    verb.description = (
        "Draw an encoding, or the weights of attention, the reference's in the same layout, and their difference, "
        "into a picture and in the terminal."
    )
    verb.add_argument("encoding", choices=SHOWN, help="one of " + ", ".join(SHOWN), metavar="encoding")
    verb.add_argument("--impl", required=True, metavar="NAME", help="as for `attnconf run`")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE", help=(
        ".png or .svg (default: ENCODING.png in this folder)"))  # fmt: skip
    verb.set_defaults(act=_show, early="attnconf show ended before the picture was written")


def _show(arguments: argparse.Namespace) -> int:
    from attnconf import show

    path = arguments.output or Path(f"{arguments.encoding}.png")
    try:
        print(show.show(arguments.encoding, arguments.impl, path))
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    return OK


def _demo(arguments: argparse.Namespace) -> int:
    if arguments.steps < 1:
        raise UsageError(f"--steps {arguments.steps}: want at least 1")
    from attnconf import demo

    try:
        print(demo.demonstrate(arguments.impl, arguments.output, arguments.steps))
    except demo.DemoError as error:
        raise UsageError(str(error)) from None
    return OK
