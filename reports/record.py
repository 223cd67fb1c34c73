"""Read and write results files (schema/results-1.json)."""

import errno
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from attnconf.reports.contradictions import contradiction
from attnconf.reports.form import problem

SCHEMA = "attnconf-results/1"
PAGE = Path(__file__).parent / "schema" / "results-1.json"
PACKED = ".xz"  # the end of a packed file's name: a fortieth of the size
Record = dict[str, Any]
_BEGINNING = b'"attnconf-results/'
_HALF = re.compile("[\ud800-\udfff]")


def read(path: Path) -> Record:
    """Return the record in a results file. Raises ValueError, with the reason, if the file is none."""
    try:
        content = json.loads(_unpacked(path), parse_constant=_no_number)
    except FileNotFoundError:
        raise ValueError(f"no results file {str(path)!r}") from None
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise ValueError(f"{str(path)!r} is not JSON: {error}") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ValueError(f"{str(path)!r} is no results file: its schema is {schema!r}, want {SCHEMA!r}")
    wrong = problem(content, json.loads(PAGE.read_text(encoding="utf-8")))
    if wrong:
        raise ValueError(f"{str(path)!r} is no results file: {wrong}")
    if contradicts := contradiction(content):
        raise ValueError(f"{str(path)!r} contradicts itself: {contradicts}")
    return content  # type: ignore[no-any-return]


def holds_results(path: Path) -> bool:
    """Return whether a file begins as one with results, of any edition of the schema. Raises OSError."""
    with path.open("rb") as file:
        if not _is_packed(path):
            return _BEGINNING in file.read(200)
        import lzma

        try:
            return _BEGINNING in lzma.open(file).read(200)
        except (lzma.LZMAError, EOFError):
            return False


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def _unpacked(path: Path) -> str:
    content = path.read_bytes()
    if _is_packed(path):
        import lzma  # not in every Python

        try:
            content = lzma.decompress(content)
        except lzma.LZMAError as error:
            raise ValueError(f"it is not packed by xz: {error}") from None
    return content.decode("utf-8")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def write(path: Path, record: Record) -> None:
    """Write a record atomically, a lone half of a character (a surrogate) as the words ``\\udc80``; .xz is packed.

    Raises ValueError for NaN and infinity, OSError where the folder cannot be written.
    """
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    content = (_HALF.sub(lambda half: rf"\\u{ord(half[0]):x}", text) + "\n").encode("utf-8")
    if _is_packed(path):
        import lzma

        content = lzma.compress(content)
    write_bytes(path, content)


def write_text(path: Path, text: str) -> None:
    """Write text as ``write_bytes`` does, in UTF-8."""
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write atomically: a reader sees the old file or the whole new one. Raises OSError."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder, want a file", str(path))
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {str(path.absolute().parent)!r}", str(path))
    handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, _mode())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode() -> int:
    """Return the permissions that open() would give a new file; mkstemp gives none to others."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
