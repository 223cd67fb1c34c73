"""The files that a submission consists of, read within bounds: of a file, a folder or an archive. No code is run.

Links are not followed, devices not opened, archives in archives not unpacked; what is hidden is left out.
"""

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from attnconf.conformance.grading.names import shown

MOST_FILES = 2000
MOST_BYTES = 64 * 2**20  # of all files together, unpacked
LARGEST = 4 * 2**20  # bytes of a file of code
ARCHIVE = 32 * 2**20  # bytes of an archive
_DEEPEST = 32  # folders in folders
_DEEP = f"has more than {_DEEPEST} folders in one another"
_LISTED = 50_000  # entries of an archive, with those that are left out
_EXCUSES = ".deviations.toml"  # loading.deviations would believe it
_RATIO, _SMALL = 100, 4 * 2**20  # what is not small has been compressed no better than this
_LEFT_OUT = ("__MACOSX", "__pycache__", "node_modules")
_HEADERS = 16 * 2**20  # bytes between the files of a tar archive
_MEMORY = 2**27  # bytes to unpack .xz
_NO_FOLLOWING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Contents = Iterator[tuple[str, bytes]]  # the name within the submission, with "/", and what the file holds


class Refusal(Exception):
    """It is not taken for a submission; the message is one line."""


def of_file(path: Path, name: str) -> Contents:
    """Yield a file, by another name."""
    yield name, _read(path, LARGEST)


def of_folder(folder: Path) -> Contents:
    """Yield the files of a folder and of those in it, by name."""
    yield from _walked(folder, "", 0)


def _walked(folder: Path, above: str, depth: int) -> Contents:
    if depth > _DEEPEST:
        raise Refusal(_DEEP)
    for name in sorted(_listed(folder, above)):
        place, inside = folder / name, f"{above}{name}"
        if left_out(name):
            continue
        kind = place.lstat().st_mode
        if stat.S_ISDIR(kind):
            if not (place / "pyvenv.cfg").exists():  # somebody's environment
                yield from _walked(place, f"{inside}/", depth + 1)
        else:
            yield inside, _read(place, MOST_BYTES, inside)


def _listed(folder: Path, above: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise Refusal(f"cannot be listed{f' ({shown(above)})' if above else ''}: {error.strerror}") from None


def _read(path: Path, most: int, inside: str = "") -> bytes:
    """Return what a file holds. Raises Refusal: for links, pipes and devices without opening them."""
    which = f"{shown(inside)} " if inside else ""
    kind = path.lstat().st_mode
    if stat.S_ISLNK(kind):
        raise Refusal(f"{which}is a link, which is not followed")
    if not stat.S_ISREG(kind):
        raise Refusal(f"{which}is no file: a pipe, a socket or a device")
    try:
        with open(os.open(path, os.O_RDONLY | _NO_FOLLOWING), "rb") as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise Refusal(f"{which}cannot be read: {error.strerror}") from None
    if len(raw) > most:
        raise Refusal(f"{which}has more than {most >> 20} MiB")
    return raw


def left_out(name: str) -> bool:
    """Return whether a file or folder of this name is none of a submission: hidden, made by a tool, or an excuse."""
    return name.startswith(".") or name in _LEFT_OUT or name.endswith(_EXCUSES)


# -- archives


def is_archive(name: str) -> bool:
    return name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz"))


def of_archive(path: Path) -> Contents:
    """Yield the files of an archive."""
    raw, kind = _read(path, ARCHIVE), path.name.lower()
    try:
        yield from _zipped(raw) if kind.endswith(".zip") else _tarred(_unpacked(raw, kind), len(raw))
    except Refusal:
        raise
    except NotImplementedError:
        raise Refusal("is packed in a way that is not read here; want .zip, .tar, .tar.gz or .tar.xz") from None
    except Exception as error:  # whatever zipfile and tarfile make of bytes that are none of theirs
        raise Refusal(f"is a broken archive: {type(error).__name__}") from None


def _zipped(raw: bytes) -> Contents:
    if raw.count(b"PK\1\2") > _LISTED:
        raise Refusal(f"has more than {_LISTED} entries")
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        entries = [entry for entry in archive.infolist() if _inside(entry.filename) and not entry.is_dir()]
        _demand_few(len(entries), sum(entry.file_size for entry in entries), len(raw))
        for entry in entries:
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise Refusal(f"{shown(entry.filename)} in it is a link or a device, want files and folders")
            if entry.flag_bits & 1:
                raise Refusal("is encrypted")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise NotImplementedError
            yield _inside(entry.filename), archive.read(entry)


def _tarred(raw: bytes, packed: int) -> Contents:
    with tarfile.open(fileobj=BytesIO(raw), mode="r:") as archive:
        entries = list(_members(archive))
        _demand_few(len(entries), sum(entry.size for entry in entries), packed)
        for entry in entries:
            if entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or entry.sparse is not None:
                raise Refusal(f"{shown(entry.name)} in it is a link or a device, want files and folders")
            file = archive.extractfile(entry)
            assert file is not None  # for entries of other types
            yield _inside(entry.name), file.read()


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield what an archive has, but folders and what is left out. Raises Refusal where it leads back or ends early."""
    before = -1
    for count, entry in enumerate(archive):
        if entry.size < 0 or entry.offset <= before or count > _LISTED:
            raise Refusal("is a broken archive: it has no end")
        before = entry.offset
        if not entry.isdir() and _inside(entry.name):
            yield entry


def _unpacked(raw: bytes, kind: str) -> bytes:
    """Return the tar archive that was compressed, by the end of its name."""
    most = MOST_BYTES + _HEADERS
    if kind.endswith(".tar"):
        return raw
    found, left = bytearray(), raw
    while left and len(found) <= most:  # one part may follow the other
        unpack = _gzip() if kind.endswith("gz") else lzma.LZMADecompressor(memlimit=_MEMORY)
        found += unpack.decompress(left, most + 1 - len(found))
        if not unpack.eof and len(found) <= most:
            raise Refusal("is a broken archive: it ends too early")
        left = unpack.unused_data.lstrip(b"\0")
    if len(found) > most:
        raise Refusal(f"unpacks to more than {MOST_BYTES >> 20} MiB")
    return bytes(found)


def _gzip() -> "zlib._Decompress":
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def _demand_few(count: int, unpacked: int, packed: int) -> None:
    if count > MOST_FILES:
        raise Refusal(f"has more than {MOST_FILES} files")
    if unpacked > MOST_BYTES:
        raise Refusal(f"unpacks to more than {MOST_BYTES >> 20} MiB")
    if unpacked > _SMALL and unpacked > _RATIO * packed:
        raise Refusal(f"unpacks to more than {_RATIO} times its size")


def _inside(name: str) -> str:
    """Return the name of an entry with "/"; "" where it is left out. Raises Refusal where it leads outside."""
    parts = name.replace("\\", "/").split("/")
    absolute = parts[0] == "" or (len(parts[0]) == 2 and parts[0][1] == ":")
    if absolute or ".." in parts or "\0" in name:
        raise Refusal(f"{shown(name)[:120]} in it leads outside")
    parts = [part for part in parts if part not in ("", ".")]
    if len(parts) > _DEEPEST:
        raise Refusal(_DEEP)
    return "" if any(left_out(part) for part in parts) else "/".join(parts)


# -- kept


def kept(contents: Contents, folder: Path) -> dict[str, bytes]:
    """Write the files into a folder, and return them by their names. Raises Refusal."""
    found: dict[str, bytes] = {}
    total = 0
    for name, raw in contents:
        total += len(raw)
        if len(found) >= MOST_FILES:
            raise Refusal(f"has more than {MOST_FILES} files")
        if total > MOST_BYTES:
            raise Refusal(f"has more than {MOST_BYTES >> 20} MiB")
        if name in found:
            raise Refusal(f"has the name {shown(name)} twice")
        found[name] = raw
    for name, raw in found.items():
        place = folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        except (OSError, ValueError) as error:
            raise Refusal(f"{shown(name)[:120]} cannot be written: {getattr(error, 'strerror', error)}") from None
    return found
