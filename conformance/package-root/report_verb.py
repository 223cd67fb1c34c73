"""``attnconf report``: what people read, made from results files."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attnconf.exit_codes import OK, UsageError
from attnconf.reports import merging
from attnconf.spec import registry

FORMS = {".html": "one page for a browser, which opens from disk", ".md": "Markdown"}


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    forms = ", ".join(f"{suffix} ({what})" for suffix, what in FORMS.items())
    verb.description = (
        f"Compare the implementations of any number of results files. The form is the name's end: {forms}."
    )
    verb.add_argument("results", nargs="+", type=Path, help="files written by `attnconf run --results`")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of printing Markdown")
    verb.set_defaults(act=report)


def report(arguments: argparse.Namespace) -> int:
    """Write or print one report."""
    output: Path | None = arguments.output
    if output is not None and output.suffix not in FORMS and not output.is_dir():
        raise UsageError(f"-o {output}: its name must end in {' or '.join(FORMS)}")
    if output and output.resolve() in {path.resolve() for path in arguments.results}:
        raise UsageError(f"-o {output} is one of the results files that are read")
    try:
        records = read(arguments.results)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if output is None:
        from attnconf.reports import markdown

        print(markdown.page(records), end="")
        return OK
    try:
        (_write_html if output.suffix == ".html" else _write_markdown)(output, records)
    except OSError as error:
        raise UsageError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    print(f"written: {output}")
    return OK


def read(files: Sequence[Path]) -> merging.Named:
    """Return the records in these files, under names that tell them apart. Raises ValueError, with the reason."""
    from attnconf.reports import record

    paths = list({path.resolve(): path for path in files}.values())  # the same file twice is one
    base = Counter(path.name for path in paths)
    return [(path.name if base[path.name] == 1 else str(path), record.read(path)) for path in paths]


def _write_html(output: Path, records: merging.Named) -> None:
    from attnconf.reports import record
    from attnconf.reports.comparison.page import Pages, page
    from attnconf.spec import passages

    root = way_to_spec(output)
    record.write_text(output, page(records, Pages(passages.passages(root), passages.choices(root), root)))


def _write_markdown(output: Path, records: merging.Named) -> None:
    from attnconf.reports import markdown, record

    pictures, folder = markdown.pictures(records), output.with_suffix(".pictures")
    record.write_text(output, markdown.page(records, way_to_spec(output), folder.name))
    for name, picture in pictures.items():
        folder.mkdir(exist_ok=True)
        record.write_text(folder / name, picture)


def way_to_spec(page: Path) -> str | None:
    """Return the way from a page in a checkout to the checkout's top, or None for a page elsewhere."""
    top, folder = registry.PAGES.parent.resolve(), page.absolute().parent.resolve()
    if not (top / "pyproject.toml").is_file() or top not in (folder, *folder.parents):
        return None
    return "../" * len(folder.relative_to(top).parts)
