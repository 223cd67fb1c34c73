"""Code as HTML, its words coloured: by Pygments, into classes of which the style colours five."""

from functools import cache
from html import escape
from typing import Any

from attnconf.reports.comparison.visible import named


@cache
def coloured(source: str, language: str = "python") -> str:
    """Return a block of code as HTML; "pycon" is what an interpreter shows, and another name is plain text."""
    from pygments import highlight

    text = named(source.rstrip("\n"))
    inside = highlight(text, _lexer(language), _formatter()) if _lexer(language) else escape(text)
    return f'<pre class="code" tabindex="0"><code>{inside.rstrip()}</code></pre>\n'


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers.python import PythonConsoleLexer, PythonLexer

    kinds = {"python": PythonLexer, "pycon": PythonConsoleLexer}
    return kinds[language](stripnl=False) if language in kinds else None


@cache
def _formatter() -> Any:
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True)
