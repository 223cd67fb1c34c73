"""A student's page: the points, what is at the root of those that are missing, and what to read."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from attnconf.reports import examples
from attnconf.reports.comparison.rendering import template
from attnconf.reports.comparison.visible import deeply
from attnconf.reports.grades.inert import fenced
from attnconf.reports.grades.inert import markdown as text
from attnconf.reports.grades.shown import Shown
from attnconf.reports.markdown import tabulated

TEMPLATES = Path(__file__).parent / "templates"


def html(page: Shown, suite: str) -> str:
    """Return the page for a browser: one file, which opens from disk and loads nothing. ``suite``: its version."""
    drawn = [cause.leaking for cause in page.causes]
    pictures = [Markup(examples.svg(deeply(result))) if result else "" for result in drawn]
    return str(template("student.html", TEMPLATES).render(page=page, pictures=pictures, suite=suite))


def markdown(page: Shown) -> str:
    """Return the page as Markdown."""
    rows = [[text(x) for x in (i.name, f"{i.earned} of {i.points}", i.word, i.reason)] for i in page.lines]
    rows += [[text(later), "", "", ""] for later in page.later]
    blocks = [
        line
        for cause in page.causes
        for line in ["", f"### {text(cause.title)}", "", f"Costs points of: {text(', '.join(cause.items))}", "",
                     *fenced(cause.lines()[1:])]
    ]  # fmt: skip
    lines = [
        f"# {text(page.title)}: {page.head}", "",
        text(page.name) + (f", file {text(page.file)}" if page.file not in ("", page.name) else ""), "",
        f"**{text(page.word)}**", *_listed("", page.said), "",
        *(tabulated(rows, ["item", "points", "earned", "why"]) if rows else []),
        *(["", "## What to mend", *blocks] if blocks else []),
        *_listed("## Noted (no points depend on this)", page.notes), *_listed("## What to read", page.reading),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _listed(title: str, texts: Any) -> list[str]:
    lines = [f"* {text(line)}" for line in texts]
    return ["", *([title, ""] if title else []), *lines] if lines else []
