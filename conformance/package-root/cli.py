"""The command line: ``attnconf run | list | explain | bind | doctor | report | show | demo``.

Bad input is answered in one line and exit code 2. Nothing here imports torch or pytest before a verb needs it.
"""

import argparse
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import attnconf
from attnconf.conformance.engine.catalogue import HOW_TO_NAME
from attnconf.spec import registry
from attnconf.spec.nearest import hint

OK, FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
KINDS = ("implementations", "chapters", "requirements", "mutants", "profiles")  # of things to list
SHOWN = ("sinusoidal", "sinusoidal_2d", "learned", "rotary", "alibi", "relative_bias", "fourier", "random_fourier")

DESCRIPTION = "Judge implementations of attention, requirement by requirement."
EXIT_CODES = "exit codes: 0 all is well, 1 a MUST does not hold, 2 bad input, 3 fault of the suite, 130 interrupted"
EVERYDAY = """\
every day:
  attnconf run --impl homework.py              a file, as it is; also a notebook
  attnconf run --impl homework.py:MyAttention  one class or function in it; also @encoder_layer, judged as that
  attnconf run --impl torch.nn.LayerNorm       a class of an installed library
  attnconf run --impl torch_nn --impl keras_layers    several side by side
  attnconf run --impl mine.py -k ATT-SCALE-1   one requirement; also -k "ATT-SCALE-1 and small-1", one case
  attnconf run --impl mine.py --throughput     also what a call costs, and how fast it is
  attnconf explain ATT-SCALE-1                 a requirement, the reference, its check and its mutants
  attnconf bind homework.py -o mine.py         how a file is called and given weights, to be edited
  attnconf run --impl mine.py --results mine.json     everything, as data
  attnconf report mine.json -o table.md        a comparison to publish, of any number of results

in Python: report = attnconf.check("mine.py"), also of a class, a function or a module
"""


class UsageError(Exception):
    """The caller's mistake, in one line."""


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake in one line, with the nearest choice."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = hint(wrong[1], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        raise UsageError(f"{self.prog}: {message}{near}; {self.prog} --help tells more")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without √ is no reason to fail
    try:
        arguments, unknown = parser().parse_known_args(argv)
        if unknown:
            raise UsageError(f"unrecognized arguments: {' '.join(unknown)}{_meant(arguments, unknown[0])}")
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
    """Return what a word that no option takes may have been meant for."""
    if arguments.act is not _run:
        return "; attnconf --help tells more"
    if word.startswith("--im"):
        return "; nearest: --impl"
    return "; attnconf run --help tells more" if word[0] == "-" else f"; to judge something: --impl {word}"


def parser() -> Parser:
    """Return the parser of all verbs; each sets ``act``, a function of the parsed arguments."""
    top = Parser(
        prog="attnconf", description=DESCRIPTION, epilog=f"{EVERYDAY}\n{EXIT_CODES}", allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"attnconf {attnconf.__version__}")
    verbs = top.add_subparsers(metavar="verb", required=True, parser_class=Parser)
    _add_run(verbs.add_parser("run", help="judge implementations", epilog=EXIT_CODES, allow_abbrev=False))
    verb = verbs.add_parser("list", help="what there is: " + ", ".join(KINDS), allow_abbrev=False)
    verb.add_argument("kind", nargs="?", choices=KINDS, help="only these (default: all)")
    verb.set_defaults(act=_list)
    verb = verbs.add_parser("explain", help="a requirement, mutant, component, …, in full", allow_abbrev=False)
    verb.add_argument("id", help=(
        "of a requirement, mutant, chapter, component, convention, profile or case: ATT-SCALE-1, rotary, norm-order, "
        "core-2, readable-1"))  # fmt: skip
    verb.set_defaults(act=_explain)
    _add_bind(
        verbs.add_parser("bind", help="how a file without an adapter is bound, as an adapter", allow_abbrev=False)
    )
    verb = verbs.add_parser("doctor", help="versions, devices, and whether the suite is sound", allow_abbrev=False)
    verb.set_defaults(act=_doctor)
    verb = verbs.add_parser("report", help="a comparison from results files, in Markdown", allow_abbrev=False)
    verb.add_argument("results", nargs="+", type=Path, help="files written by `attnconf run --results`")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE.md", help="write there instead of printing")
    verb.set_defaults(act=_report)
    _add_show(verbs.add_parser("show", help="a picture of an encoding beside the reference's", allow_abbrev=False))
    _add_demo(verbs.add_parser("demo", help="a picture learned with an implementation", allow_abbrev=False))
    return top


def _add_run(verb: argparse.ArgumentParser) -> None:
    verb.description = "Judge implementations; the same as `pytest conformance` in a checkout."
    verb.add_argument("--impl", action="append", default=[], metavar="NAME", help=HOW_TO_NAME)
    verb.add_argument("--results", metavar="FILE.json", help="write everything to this file")
    verb.add_argument("--profile", metavar="NAME", help="what a verdict requires")
    verb.add_argument("--strict", action="store_true", help="let a SHOULD count like a MUST")
    verb.add_argument("--thorough", action="store_true", help="also explore around the scored cases; never scored")
    verb.add_argument("--blind-spots", action="store_true", help=(
        "list what no check executed of your own file; on in a full profile (needs the extra coverage)"))  # fmt: skip
    verb.add_argument("--convention", action="append", default=[], metavar="NAME=CHOICE", help=(
        "hold it to a convention, as in mask=true-keeps; may be given several times"))  # fmt: skip
    verb.add_argument("--throughput", nargs="?", const="smoke", choices=("smoke", "grid"), help=(
        "also count what a call costs, and time it beside an anchor (default: smoke, a few cases)"))  # fmt: skip
    verb.add_argument("--strict-perf", action="store_true", help="let a time that is not FASTER or SAME fail")
    verb.add_argument("--seed", type=int, metavar="N", help="draw other numbers for the cases (default: 0)")
    verb.add_argument("--device", metavar="NAME", help="where tensors live: cpu, cuda, … (default: cpu)")
    verb.add_argument("-k", metavar="EXPR", help='only these requirements and cases: -k "ATT-SCALE-1 and peaked-3"')
    verb.add_argument("-v", action="store_true", help="more output: the table of requirements, everything in full")
    verb.add_argument("-q", action="store_true", help="less output: the verdicts, and what to mend")
    verb.add_argument("-x", action="store_true", help="stop at the first failure")
    verb.set_defaults(act=_run)


def _add_bind(verb: argparse.ArgumentParser) -> None:
    verb.description = "Print the binding that is inferred for a file, a notebook or a class, as an adapter to edit."
    verb.add_argument("what", metavar="FILE", help=(
        "a .py file, a notebook or a dotted module, optionally with :ClassOrFunction and @component"))  # fmt: skip
    verb.add_argument("-o", "--output", type=Path, metavar="FILE.py", help="write there instead of printing")
    verb.add_argument("--force", action="store_true", help="overwrite FILE.py, and what was edited in it")
    verb.set_defaults(act=_bind)


def _bind(given: argparse.Namespace) -> int:
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # before torch is imported
        os.environ.setdefault(variable, "1")
    from attnconf.conformance.inference import writing
    from attnconf.conformance.loading.find import LoadError
    from attnconf.reports.record import write_text

    if given.output is not None and given.output.exists() and not given.force:
        raise UsageError(f"{given.output} is there already, and may have been edited: --force overwrites it")
    try:
        text = writing.adapter(given.what)
        if given.output is None:
            print(text, end="")
        else:
            write_text(given.output, text)
    except LoadError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(given.output)!r}: {error.strerror or error}") from None
    return OK


def _add_demo(verb: argparse.ArgumentParser) -> None:
    verb.description = "rose: a small network learns a picture from Fourier features, and from bare coordinates."
    verb.add_argument("what", choices=("rose",), help="which demonstration")
    verb.add_argument("--impl", required=True, metavar="NAME", help="whose component `fourier` to use, as for run")
    verb.add_argument("-o", "--output", type=Path, default=Path("rose.png"), metavar="FILE.png", help=(
        "where to write the picture (default: rose.png)"))  # fmt: skip
    verb.add_argument("--steps", type=int, default=150, metavar="N", help="how long to learn (default: 150)")
    verb.set_defaults(act=_demo)


def _run(given: argparse.Namespace) -> int:
    if not given.impl:
        raise UsageError(
            "which implementation? give --impl NAME (attnconf list implementations shows the shipped ones)"
        )
    for variable in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # options for the user's own tests
        os.environ.pop(variable, None)
    import pytest

    code = pytest.main(pytest_arguments(given))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("ERROR: nothing was judged", file=sys.stderr)
    return {
        pytest.ExitCode.OK: OK,
        pytest.ExitCode.TESTS_FAILED: FAILED,
        pytest.ExitCode.INTERRUPTED: INTERRUPTED,
        pytest.ExitCode.USAGE_ERROR: USAGE,
        pytest.ExitCode.NO_TESTS_COLLECTED: USAGE,
    }.get(pytest.ExitCode(code), INTERNAL)


def pytest_arguments(given: argparse.Namespace) -> list[str]:
    """Return pytest's arguments for the packaged suite, without any configuration file of the user's folder."""
    suite = Path(_conformance_folder())
    fixed = [
        "-c",
        str(suite / "run.ini"),
        f"--rootdir={suite.parent}",
        "--pyargs",
        "attnconf.conformance.test_conformance",
        *(["attnconf.conformance.test_throughput"] if given.throughput else []),
    ]
    valued = [(f"--{name}", getattr(given, name)) for name in ("results", "profile", "throughput", "seed", "device")]
    options = [f"{option}={value}" for option, value in valued if value is not None]
    options += [f"--convention={word}" for word in given.convention]
    switches = ("strict", "thorough", "blind-spots", "strict-perf")
    flags = [f"--{name}" for name in switches if getattr(given, name.replace("-", "_"))]
    flags += [f"-{name}" for name in ("v", "q", "x") if getattr(given, name)]
    select = ["-k", given.k] if given.k is not None else []
    return [*fixed, *(f"--impl={name}" for name in given.impl), *options, *flags, *select]


def _conformance_folder() -> str:
    import attnconf.conformance

    return attnconf.conformance.__path__[0]


def _list(given: argparse.Namespace) -> int:
    from attnconf import listing

    print("\n".join(listing.lines(given.kind)))
    return OK


def _explain(given: argparse.Namespace) -> int:
    from attnconf import explaining

    try:
        print("\n".join(explaining.explain(given.id)))
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None
    return OK


def _doctor(given: argparse.Namespace) -> int:
    from attnconf import doctor

    return OK if doctor.examine() else FAILED


def _report(given: argparse.Namespace) -> int:
    from attnconf.reports import markdown, record

    paths = list({path.resolve(): path for path in given.results}.values())  # the same file twice is one
    base = Counter(path.name for path in paths)
    if given.output and given.output.resolve() in {path.resolve() for path in paths}:
        raise UsageError(f"-o {given.output} is one of the results files that are read")
    try:
        records = [(path.name if base[path.name] == 1 else str(path), record.read(path)) for path in paths]
        if given.output is None:
            print(markdown.page(records), end="")
            return OK
        pictures, folder = markdown.pictures(records), given.output.with_suffix(".pictures")
        record.write_text(given.output, markdown.page(records, _way_to_spec(given.output), folder.name))
        for name, picture in pictures.items():
            folder.mkdir(exist_ok=True)
            record.write_text(folder / name, picture)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(given.output)!r}: {error.strerror or error}") from None
    return OK


def _add_show(verb: argparse.ArgumentParser) -> None:
    verb.description = "Draw an encoding, the reference's in the same layout, and their difference."
    verb.add_argument("encoding", choices=SHOWN, help="one of " + ", ".join(SHOWN), metavar="encoding")
    verb.add_argument("--impl", required=True, metavar="NAME", help="as for `attnconf run`")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE.png", help="default: ENCODING.png in this folder")
    verb.set_defaults(act=_show)


def _show(given: argparse.Namespace) -> int:
    from attnconf import show

    path = given.output or Path(f"{given.encoding}.png")
    try:
        print(show.show(given.encoding, given.impl, path))
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    return OK


def _demo(given: argparse.Namespace) -> int:
    if given.steps < 1:
        raise UsageError(f"--steps {given.steps}: want at least 1")
    from attnconf import demo

    try:
        print(demo.demonstrate(given.impl, given.output, given.steps))
    except demo.DemoError as error:
        raise UsageError(str(error)) from None
    return OK


def _way_to_spec(page: Path) -> str | None:
    """Return the way from a page in a checkout to the checkout's top, or None for a page elsewhere."""
    top, folder = registry.PAGES.parent.resolve(), page.absolute().parent.resolve()
    if not (top / "pyproject.toml").is_file() or top not in (folder, *folder.parents):
        return None
    return "../" * len(folder.relative_to(top).parts)
