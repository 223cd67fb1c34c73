"""Which file of a submission is judged, where it has many: told from their names and text, without running any."""

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from attnconf.conformance.grading.contents import Refusal
from attnconf.conformance.grading.names import shown

CODE = (".py", ".ipynb")
_LISTED = 8
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+\w", re.MULTILINE)
_IMPORTS = re.compile(r"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)
_TESTS = re.compile(r"test_.*|.*_test|conftest|setup|__init__")  # files beside a homework


def chosen(code: Mapping[str, bytes], wanted: str) -> str:
    """Return the name of the file to judge, of files by their names within the submission. Raises Refusal.

    It is the only one; else that of the name ``wanted``; else the only one that defines something and that no other
    imports.
    """
    if len(code) == 1:
        return next(iter(code))
    named = [name for name in code if wanted and PurePosixPath(name).name == wanted]
    nearest = min((name.count("/") for name in named), default=0)
    left = [name for name in named if name.count("/") == nearest] or _tops(code)
    if len(left) == 1:
        return left[0]
    there = left or sorted(code)
    more = f", … ({len(there)} files)" if len(there) > _LISTED else ""
    which = f"one is to be judged{f', and none is named {shown(wanted)}' if wanted and not named else ''}"
    raise Refusal(f"{which}; there are {', '.join(map(shown, there[:_LISTED]))}{more}")


def _tops(code: Mapping[str, bytes]) -> list[str]:
    """Return the files that define something, but those that others import."""
    texts = {name: _text(name, raw) for name, raw in code.items() if not _TESTS.fullmatch(PurePosixPath(name).stem)}
    defining = [name for name, text in texts.items() if _DEFINES.search(text)]
    imported = {name: set(re.findall(r"\w+", " ".join(_IMPORTS.findall(texts[name])))) for name in texts}
    return [name for name in sorted(defining) if not any(
        PurePosixPath(name).stem in words for other, words in imported.items() if other != name)]  # fmt: skip


def _text(name: str, raw: bytes) -> str:
    """Return the Python of a file; of a notebook that of its code cells, "" where it is none."""
    if not name.lower().endswith(".ipynb"):
        return raw.decode(errors="replace")
    try:
        cells = json.loads(raw)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
