"""``attnconf report`` and ``attnconf diff``: what people read, made from results files."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnconf.exit_codes import FAILED, OK, UsageError
from attnconf.reports import merging
from attnconf.spec import registry

if TYPE_CHECKING:
    from attnconf.reports.diff.changes import Difference

FORMS = {
    ".html": "one page for a browser, which opens from disk",
    ".md": "Markdown",
    ".csv": "a row for each result",
    ".xml": "JUnit, for a CI",
    ".svg": "a badge",
    ".json": "a badge, for the endpoint of shields.io",
}
OF_DIFF = (".html", ".md")
DRAWN = ("lengths", "kill-matrix")
# what is drawn; how in the terminal, in so many columns; how in a file, by the end of its name
Drawing = tuple[Any, Callable[[Any, int], list[str]], dict[str, Callable[[Any], str | bytes]]]


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    forms = ", ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
    verb.description = (
        f"Compare the implementations of any number of results files. The form is the name's end: {forms}. "
        "With --spec, write the specification as a site instead: no results files, and a folder behind -o."
    )
    verb.add_argument("results", nargs="*", type=Path, help="files written by `attnconf run --results`")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of printing Markdown")
    verb.add_argument("--spec", action="store_true", help=(
        "write the specification into the folder -o, as pages for a browser that open from disk: each requirement with "
        "its check, the mistakes that it has caught, and who of the gallery fulfils it; the kill matrix, the study of "
        "public code, and a search"))  # fmt: skip
    verb.add_argument("--draw", choices=DRAWN, help=(
        "draw one picture in the terminal, or into -o FILE.svg or FILE.png: how much of the error bounds the "
        "implementations of results use, against the length of the sequence; or the kill matrix, which needs no "
        "results"))  # fmt: skip
    verb.set_defaults(act=report)


def add_diff_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of ``diff``."""
    verb.description = (
        "Say per requirement what got worse, is no longer judged, is new, or got better. Two files of one "
        "implementation each are compared whatever their names. Exit code 1 if anything got worse, or is no longer "
        "judged though profile and version are the same. What an interruption or a selection left out in one of them "
        "is not judged in one of the two, and no change."
    )
    verb.add_argument("before", type=Path, help="a file written by `attnconf run --results`")
    verb.add_argument("after", type=Path, help="another one")
    verb.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write .html or .md there, and only the counts to the terminal",
    )
    verb.set_defaults(act=diff)


def diff(arguments: argparse.Namespace) -> int:
    """Print, or write, what changed from one file to another."""
    output: Path | None = arguments.output
    _refuse(output, [arguments.before, arguments.after], OF_DIFF)
    records = _read([arguments.before, arguments.after])
    from attnconf.reports.diff import changes, text
    from attnconf.reports.terminal import width

    found = changes.difference(records if len(records) == 2 else [*records, *records])
    if output is None:
        print("\n".join(text.lines(found, width())))
    else:
        _write(output, lambda: _diff_page(found) if _form(output) == ".html" else text.markdown(found))
        print(text.counts(found))
    return FAILED if found.regressions else OK


def _diff_page(found: "Difference") -> str:
    from attnconf.reports.diff.page import page

    return page(found)


def report(arguments: argparse.Namespace) -> int:
    """Write or print one report, or write the specification."""
    output: Path | None = arguments.output
    if arguments.spec:
        return _spec(output, arguments.results)
    if arguments.draw:
        return _draw(arguments.draw, output, arguments.results)
    if not arguments.results:
        raise UsageError("report: which results? want files written by `attnconf run --results`, or --spec")
    _refuse(output, arguments.results, tuple(FORMS))
    records = _read(arguments.results)
    if output is None:
        from attnconf.reports import markdown

        print(markdown.page(records), end="")
        return OK
    if _form(output) == ".md":
        _write_markdown(output, records)
    else:
        _write(output, lambda: _content(output, records))
    print(f"written: {output}")
    return OK


def _draw(what: str, output: Path | None, results: Sequence[Path]) -> int:
    """Draw one picture, in the terminal or into a file."""
    from attnconf.reports import plots
    from attnconf.reports.terminal import width

    if bool(results) != (what == "lengths"):
        wanted = "which results? want files written by `attnconf run --results`" if not results else "reads no results"
        raise UsageError(f"report --draw {what}: {wanted}")
    _refuse(output, results, plots.SUFFIXES)
    content, in_terminal, in_file = _lengths(results) if what == "lengths" else _kills()
    if output is None:
        print("\n".join(in_terminal(content, width())))
        return OK
    try:
        picture = in_file[_form(output)](content)
    except ImportError:
        raise UsageError(f"-o {output}: {plots.MISSING}; .svg needs nothing") from None
    except ValueError as error:
        raise UsageError(f"report --draw {what}: {error}") from None
    _write(output, lambda: picture)
    print(f"written: {output}")
    return OK


def _lengths(results: Sequence[Path]) -> Drawing:
    """Return the largest shares of error bounds at each length."""
    from attnconf.reports import bitmaps, drawn
    from attnconf.reports.comparison import accuracy, length_plot, matrix

    points = accuracy.at_lengths(matrix.columns(merging.judged(_read(results))))
    return points, drawn.lengths, {".svg": length_plot.alone, ".png": bitmaps.lengths}


def _kills() -> Drawing:
    """Return the kept kill matrix, as what draws it takes it."""
    from attnconf import reports
    from attnconf.conformance.engine import catalogue
    from attnconf.reports import bitmaps, drawn, kill_picture

    text = Path(reports.__file__).with_name("kill-matrix.jsonl").read_text(encoding="utf-8")
    every = map(json.loads, text.splitlines())
    content = {
        "chapters": list(registry.CHAPTERS.values()),
        "requirements": [{"id": r.id, "chapter": r.chapter} for r in registry.requirements().values()],
        "mutants": [{"id": m.id, "chapter": m.chapter} for m in catalogue.mutant_texts().values()],
        "rows": [{"roots": (), **row} for row in every if row["mutant"] != "reference"],
    }
    return content, drawn.kills, {".svg": kill_picture.picture, ".png": bitmaps.kills}


def _spec(output: Path | None, results: Sequence[Path]) -> int:
    """Write the specification as a site."""
    from attnconf.reports.spec_site import site

    if results:
        raise UsageError(f"report --spec writes the specification alone, and reads no results: {results[0]}")
    if output is None:
        raise UsageError("report --spec: where to? -o site/, say, a folder that is new, empty, or an earlier site")
    try:
        if unlike := site.unlike(output):
            raise UsageError(f"-o {output} {unlike}: want a folder that is new, empty, or an earlier site")
        output.mkdir(parents=True, exist_ok=True)
        files = site.Site(way_to_spec(output / "index.html")).files()
        site.write(output, files)
    except OSError as error:
        raise UsageError(f"cannot write {str(error.filename or output)!r}: {error.strerror or error}") from None
    print(f"written: {output / 'index.html'}, {len(registry.requirements())} requirements in {len(files)} files")
    return OK


def _form(output: Path) -> str:
    """Return the form that the end of a name asks for, whether in capitals or not."""
    return output.suffix.lower()


def _refuse(output: Path | None, results: Sequence[Path], forms: Sequence[str]) -> None:
    """Raise UsageError for an output of an unknown form, or one that is read as well."""
    if output is None:
        return
    if _form(output) not in forms and not output.is_dir():
        raise UsageError(
            f"-o {output}: its name must end in {' or '.join((', '.join(forms[:-1]), forms[-1])).removeprefix(' or ')}"
        )
    if output.resolve() in {path.resolve() for path in results}:
        raise UsageError(f"-o {output} is one of the results files that are read")
    if _form(output) == ".json" and _holds_results(output):
        raise UsageError(f"-o {output} holds results, which a badge would overwrite")


def _holds_results(path: Path) -> bool:
    from attnconf.reports import record

    try:
        record.read(path)
    except ValueError:
        return False
    return True


def _write(output: Path, content: Callable[[], str | bytes]) -> None:
    from attnconf.reports import record

    try:
        made = content()
        record.write_bytes(output, made) if isinstance(made, bytes) else record.write_text(output, made)
    except OSError as error:
        raise UsageError(f"cannot write {str(output)!r}: {error.strerror or error}") from None


def _read(files: Sequence[Path]) -> merging.Named:
    """Return the records in these files, under names that tell them apart."""
    from attnconf.reports import record

    paths = list({path.resolve(): path for path in files}.values())  # the same file twice is one
    base = Counter(path.name for path in paths)
    try:
        return [(path.name if base[path.name] == 1 else str(path), record.read(path)) for path in paths]
    except ValueError as error:
        raise UsageError(str(error)) from None


def _content(output: Path, records: merging.Named) -> str:
    from attnconf.reports import badge, junit, spreadsheet

    forms = {".csv": spreadsheet.sheet, ".xml": junit.suites, ".svg": badge.svg, ".json": badge.endpoint}
    return forms[_form(output)](records) if _form(output) in forms else _html(output, records)


def _html(output: Path, records: merging.Named) -> str:
    from attnconf.reports.comparison.page import Pages, page
    from attnconf.reports.spec_site import passages

    root = way_to_spec(output)
    return page(records, Pages(passages.passages(root), passages.choices(root), root))


def _write_markdown(output: Path, records: merging.Named) -> None:
    from attnconf.reports import markdown, record

    folder = output.with_suffix(".pictures")
    _write(output, lambda: markdown.page(records, way_to_spec(output), folder.name))
    for name, picture in markdown.pictures(records).items():
        folder.mkdir(exist_ok=True)
        record.write_text(folder / name, picture)


def way_to_spec(page: Path) -> str | None:
    """Return the way from a page in a checkout to the checkout's top, or None for a page elsewhere."""
    top, folder = registry.PAGES.parent.resolve(), page.absolute().parent.resolve()
    if not (top / "pyproject.toml").is_file() or top not in (folder, *folder.parents):
        return None
    return "../" * len(folder.relative_to(top).parts)
