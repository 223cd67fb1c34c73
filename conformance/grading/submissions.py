"""What was handed in: one submission for each entry of a folder, copied to where its code will run. Nothing is run."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from attnconf.conformance.grading import contents
from attnconf.conformance.grading.contents import LARGEST, Contents, Refusal, kept
from attnconf.conformance.grading.names import is_safe, keys, shown
from attnconf.conformance.grading.which_file import CODE, chosen

EMPTY = "empty: "  # begins ``refused`` where nothing was handed in


@dataclass(frozen=True)
class Submission:
    """What one student handed in."""

    name: str  # of the entry, on one line, with escapes for what no screen shows; else whatever its author chose
    key: str  # a file's name that no other submission of the batch has
    file: Path | None  # the file to judge, alone with those of its submission; None where there is none
    shown: str  # that file as its author knows it, from the batch's folder on; of the same characters as ``name``
    digest: str  # SHA-256 of all files and their names, but the submission's own name; "" where it is refused
    refused: str  # why it cannot be judged, in one line; "" where it can
    folder: Path | None = None  # where its files lie, and nothing else

    @property
    def is_empty(self) -> bool:
        """Whether nothing was handed in."""
        return self.refused.startswith(EMPTY)


def found(folder: Path, workspace: Path, wanted: str = "") -> list[Submission]:
    """Return the submissions in a folder, by name; the files of each are copied to a folder of ``workspace``.

    wanted  the name of the file to judge, where a submission has many

    Each entry is one: a .py or .ipynb file, a folder, or an archive. Hidden entries are none.
    """
    names = sorted((name for name in os.listdir(folder) if not contents.left_out(name)), key=shown)
    key_of = keys(names)
    return [_taken(folder / name, workspace, key_of[name], wanted) for name in names]


def one(path: Path, workspace: Path, wanted: str = "") -> Submission:
    """Return the submission that a path leads to, as ``found`` does."""
    name = path.absolute().name
    return _taken(path, workspace, keys([name])[name], wanted)


def _taken(path: Path, workspace: Path, key: str, wanted: str) -> Submission:
    name, folder = path.absolute().name, workspace / key
    if os.path.lexists(folder):
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    try:
        files = kept(_contents(path, name, key), folder)
        judged = _judged(files, wanted)
        file = folder / judged
        file = file.rename(file.with_suffix(file.suffix.lower()))
    except Refusal as why:
        shutil.rmtree(folder)
        return Submission(shown(name), key, None, shown(name), "", str(why))
    alone = is_code(name) and path.is_file()
    inside = shown(name) if alone else f"{shown(name)}/{shown(judged)}"
    return Submission(shown(name), key, file, inside, _digest(files), "", folder)


def _contents(path: Path, name: str, key: str) -> Contents:
    """Return the files of an entry. Raises Refusal for an entry that is none of the three."""
    kind = path.lstat().st_mode
    if stat.S_ISDIR(kind):
        return contents.of_folder(path)
    if contents.is_archive(name):
        return contents.of_archive(path)
    if is_code(name) or not stat.S_ISREG(kind):
        suffix = Path(name).suffix
        return contents.of_file(path, name if is_safe(name) and suffix in CODE else f"{key}{suffix.lower()}")
    raise Refusal("is neither .py, .ipynb, a folder, .zip, .tar, .tar.gz nor .tar.xz")


def is_code(name: str) -> bool:
    """Return whether a name is that of a file that can be judged."""
    return name.lower().endswith(CODE)


def _judged(files: Mapping[str, bytes], wanted: str) -> str:
    """Return the name of the file to judge. Raises Refusal."""
    code = {name: raw for name, raw in files.items() if is_code(name)}
    if not code:
        raise Refusal(f"{EMPTY}there is no .py or .ipynb file in it")
    for name, raw in code.items():
        if len(raw) > LARGEST:
            outputs = "; a notebook is smaller without its outputs" if name.endswith(".ipynb") else ""
            raise Refusal(f"{shown(name)} has more than {LARGEST >> 20} MiB{outputs}")
    if not any(raw.strip() for raw in code.values()):
        raise Refusal(f"{EMPTY}its files have nothing in them")
    return chosen(code, wanted)


def _digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of the files; that of a single one does not depend on its name, but for the ending."""
    whole = hashlib.sha256()
    for part in _parts(files):
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def _parts(files: Mapping[str, bytes]) -> Iterator[bytes]:
    above = os.path.commonpath([os.path.dirname(name) for name in files])
    for name in sorted(files):
        inside = os.path.relpath(name, above or ".")
        yield os.fsencode(inside if len(files) > 1 else Path(name).suffix.lower())
        yield files[name]
