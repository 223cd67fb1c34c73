"""Colour for what a run prints on a terminal. The text is the same with it and without."""

import io
from collections.abc import Iterable

ROWS = (
    "likely|and|besides|fix|try|where|rule|case|worst at|found|error|smallest|example|leaks|"
    "known|also|breaks|spec|rerun|because|reading|differs|say"
)  # of a block
# Each pattern is tried on every line; a group has the name of its style.
PATTERNS = (
    r"^(?P<failed>\S+ violated by .+)$",
    r"^(?P<failed>\S+ \(\w+\) is not recognised)$",
    r"^(?P<optional>\S+ not followed by .+)$",
    r"^(?P<optional>could be better:)",
    rf"^  (?P<label>{ROWS}) {{2,}}",
    r"^(?P<label>wrong:|fix:|try:|where:|why:|next:|later:)",
    r"^wrong: +(?P<wrong>(?!nothing).+?)(?= \([A-Z]+-|$)",
    r"^(?:  )?(?:fix|try)(?::| ) +(?P<fix>.+)$",
    r"^ *where:? +(?:\S+:\d+|.*line \d+)  (?P<mend>.+)$",
    r"\bgot (?P<got>[^\s,;]+)",
    r"\bwant (?P<want>[^,;]+)",
    r"(?P<first><- (?:first difference|differs))",
    r"(?P<forbidden>(?<=[ .o!X])X(?=[ ]|$))(?=[ .o!X]*$)",
    r": (?P<bad>NONCONFORMANT|UNRECOGNISED|NOT-GRADABLE)\b",
    r": (?P<good>CONFORMANT)\b",
    r": (?P<open>INCOMPLETE)\b|^(?P<unfinished>INCOMPLETE)\b",
    r"(?P<good>\b[1-9]\d* passed)",
    r"(?P<bad_count>\b\d+ (?:failed|follows?|errors))",
    r"(?P<bad_count>\bFAIL\b)",
)
STYLES = {
    "failed": "bold red", "optional": "yellow", "label": "bold", "wrong": "red", "fix": "green", "mend": "bold yellow",
    "got": "red", "want": "green", "first": "bold red", "forbidden": "bold red", "bad": "bold white on red",
    "good": "bold green", "open": "bold yellow", "unfinished": "bold yellow", "bad_count": "red",
}  # fmt: skip


def painted(lines: Iterable[str]) -> list[str]:
    """Return the lines with the codes that make a terminal show them in colour."""
    from rich.console import Console
    from rich.text import Text
    from rich.theme import Theme

    page = io.StringIO()
    theme = Theme({f"attnconf.{name}": style for name, style in STYLES.items()})
    console = Console(file=page, force_terminal=True, color_system="standard", theme=theme, no_color=False)
    for line in lines:
        text = Text(line)
        for pattern in PATTERNS:
            text.highlight_regex(pattern, style_prefix="attnconf.")
        console.print(text, soft_wrap=True)
    return page.getvalue().splitlines()
