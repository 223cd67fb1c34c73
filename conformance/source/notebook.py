"""Turn a notebook into Python text: its code cells one after the other, without shell commands (``!pip``, ``%cd``)."""

import io
import json
import re
import sys
import tokenize
from dataclasses import dataclass
from typing import Any

from attnconf.conformance.source.syntax import tree_of

# Of the cell magics, those whose cell is Python that runs in the notebook itself.
_STILL_PYTHON = {"time", "timeit", "capture", "prun", "python", "python3", "memit", "mprun", "wandb"}
_MAGIC = re.compile(r"\s*[%!?]|\s*[\w.\[\], ]+=\s*[%!]|\s*[\w.]+\?{1,2}\s*$")


class BadNotebook(Exception):
    """The file is no notebook with Python in it; the message says why."""


@dataclass(frozen=True)
class Cells:
    """The code of a notebook."""

    text: str
    starts: tuple[tuple[int, int], ...]  # (first line within the text, number of the code cell), both from 1
    broken: tuple[tuple[str, str], ...]  # cells without definitions that are no Python: (place, why)

    def place(self, line: int) -> str:
        """Return the place of a line of the text, in words: "cell 3, line 2"."""
        first, number = [start for start in self.starts if start[0] <= line][-1]
        return f"cell {number}, line {line - first + 1}"


def prompt_of(filename: str) -> int | None:
    """Return the n of In [n] for a traceback's file name of a cell in the running notebook; None for other files."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(filename)
    number = re.search(r"\d+", named[1]) if named else None
    return int(number[0]) if number else None


def cells_of(raw: bytes) -> Cells:
    """Return the code cells of a notebook. Raises BadNotebook, or SyntaxError with a line of the text."""
    lines: list[str] = []
    starts, broken = [], []
    for number, source in enumerate(_sources(_parsed(raw)), start=1):
        cell = _plain(source)
        starts.append((len(lines) + 1, number))
        error = _error(cell)
        if error is not None and re.search(r"^\s*(class|def|async def)\b", source, re.MULTILINE):
            error.lineno = (error.lineno or 1) + len(lines)
            error.args = (f"cell {number}, line {error.lineno - len(lines)}",)
            raise error
        if error is not None:
            broken.append((f"cell {number}, line {error.lineno}", f"{type(error).__name__}: {error.msg}"))
            cell = ["pass" for _ in cell]
        lines += cell
    if not any(line.strip() for line in lines):
        raise BadNotebook("the notebook has no code in it")
    return Cells("\n".join(lines) + "\n", tuple(starts), tuple(broken))


def _parsed(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise BadNotebook("the file is empty")
    try:
        content = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except json.JSONDecodeError as error:
        raise BadNotebook(f"it is not a notebook: line {error.lineno} is not JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise BadNotebook(f"it is not a notebook: it is not JSON: {error}") from None
    if not isinstance(content, dict) or not {"cells", "worksheets"} & set(content):
        raise BadNotebook("it is not a notebook: it is JSON, but has no cells")
    metadata = content.get("metadata")
    for key, field in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        language = about.get(field) if isinstance(about, dict) else None
        if isinstance(language, str) and not re.match("i?python", language, re.IGNORECASE):
            raise BadNotebook(f"it is a notebook in {language}, want Python")
    return content


def _sources(content: dict[str, Any]) -> list[str]:
    """Return the text of each code cell. Before format 4 cells lie on worksheets and call their text input."""
    sheets = content.get("worksheets", [content])
    try:
        cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
        found = [cell["source"] if "source" in cell else cell["input"] for cell in cells]
        return ["".join(text) for text in found]
    except (KeyError, TypeError) as error:
        words = f"has no {error}" if isinstance(error, KeyError) else "is not what the format says"
        raise BadNotebook(f"it is not a notebook: a cell {words}") from None


def _plain(source: str) -> list[str]:
    """Return the lines of a cell, with ``pass`` where a line is for the shell or for the notebook."""
    lines = source.replace("\r\n", "\n").replace("\0", "").split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    magic = re.match(r"%%(\w*)", lines[first])
    if magic:
        if magic[1] not in _STILL_PYTHON:
            return ["" for _ in lines]
        lines[first] = ""
    if _error(lines) is None:  # a line that begins with % may go on with the one before
        return lines
    plain: list[str] = []
    goes_on = False  # the line before is the shell's, and goes on
    for line in lines:
        shell = bool(_MAGIC.match(line)) and not goes_on and not _goes_on(plain)
        indent = line[: len(line) - len(line.lstrip())]
        plain.append("" if goes_on else f"{indent}pass" if shell else line)
        goes_on = (shell or goes_on) and line.rstrip().endswith("\\")
    return plain


def _goes_on(lines: list[str]) -> bool:
    """Return whether the next line goes on with a bracket or a string that is open."""
    if lines and lines[-1].rstrip().endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        pass
    return False


def _error(lines: list[str]) -> SyntaxError | None:
    try:
        tree_of("\n".join(lines) + "\n")
    except SyntaxError as error:
        return error
    return None
