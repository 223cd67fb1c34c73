"""Templates: every text that goes into a page is made visible and escaped."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from attnconf.reports.comparison import evidence
from attnconf.reports.comparison.visible import visible

TEMPLATES = Path(__file__).parent / "templates"


@cache
def template(name: str, folder: Path = TEMPLATES) -> Any:
    """Return a template of a folder; it has the style, the script, and the filters ``linked``, ``breakable``."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]), autoescape=True, undefined=jinja2.StrictUndefined,
        finalize=_shown, trim_blocks=True,
    )  # fmt: skip
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.filters |= {"linked": evidence.linked, "breakable": breakable}
    inlined = {"css": ("report.css", "formula.css"), "js": ("report.js",)}
    environment.globals |= {name: Markup("".join(map(_text, files))) for name, files in inlined.items()}
    environment.globals["copied"] = evidence.COPIED
    return environment.get_template(name)


def _text(file: str) -> str:
    return (TEMPLATES / file).read_text(encoding="utf-8")


def breakable(name: str) -> Markup:
    """Return a name that a narrow column breaks between its words, and not within one."""
    return Markup("<wbr>").join(re.split(r"(?<=[_.:/])", visible(name)))


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
