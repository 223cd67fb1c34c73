"""What is handed in, in whatever form: taken, refused in one line, and never run."""

import gzip
import io
import lzma
import os
import socket
import tarfile
import zipfile
from pathlib import Path

import pytest

from attnconf.conformance.grading import contents
from attnconf.conformance.grading.names import keys
from attnconf.conformance.grading.submissions import EMPTY, found, one

CLASS = b"class MultiHeadAttention:\n    pass\n"
SCRIPT = b"print('no definition')\n"
EVIL = "\u202egpj.py"  # reads backwards


@pytest.fixture
def batch(tmp_path):
    """Return a function that hands in files by name, and returns what is found of them by entry."""
    folder = tmp_path / "batch"
    folder.mkdir()

    def batch(files=(), wanted=""):
        for name, raw in dict(files).items():
            place = folder / os.fsdecode(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        return {s.name: s for s in found(folder, tmp_path / "work", wanted)}

    batch.folder = folder
    return batch


def zipped(*entries, **options):
    """Return a zip archive of (name or ZipInfo, bytes)."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return raw.getvalue()


def tarred(*entries):
    """Return a tar archive of (name, bytes), or (name, type, target)."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, *what in entries:
            info = tarfile.TarInfo(name)
            if isinstance(what[0], tuple):
                info.type, info.linkname = what[0]
                archive.addfile(info)
            else:
                info.size = len(what[0])
                archive.addfile(info, io.BytesIO(what[0]))
    return raw.getvalue()


def shown_of(submissions):
    return {name: s.refused or s.shown for name, s in submissions.items()}


# -- what is taken


def test_files_folders_and_archives_are_submissions_by_name(batch):
    files = {"b.py": CLASS, "a.ipynb": b'{"cells": []}', "c/mine.py": CLASS, "d.zip": zipped(("hw/mine.py", CLASS)),
             "e.tgz": gzip.compress(tarred(("mine.py", CLASS))), "f.tar": tarred(("mine.py", CLASS)),
             "g.tar.xz": lzma.compress(tarred(("./mine.py", CLASS))), "H.PY": CLASS}  # fmt: skip
    came = batch(files)
    assert shown_of(came) == {
        "H.PY": "H.PY", "a.ipynb": "a.ipynb", "b.py": "b.py", "c": "c/mine.py", "d.zip": "d.zip/hw/mine.py",
        "e.tgz": "e.tgz/mine.py", "f.tar": "f.tar/mine.py", "g.tar.xz": "g.tar.xz/mine.py",
    }  # fmt: skip
    assert list(came) == sorted(came)
    assert came.pop("a.ipynb").file.suffix == ".ipynb"
    assert {s.file.read_bytes() for s in came.values()} == {CLASS}
    assert {s.file.suffix for s in came.values()} == {".py"}
    assert len({s.digest for s in came.values()}) == 1


def test_each_is_copied_apart_from_its_neighbours(batch):
    came = batch({"a.py": CLASS, "b.py": CLASS, "c/mine.py": CLASS, "c/part.py": SCRIPT})
    assert os.listdir(came["a.py"].file.parent) == ["a.py"]
    assert sorted(os.listdir(came["c"].file.parent)) == ["mine.py", "part.py"]
    (batch.folder / "c" / "part.py").unlink()
    assert os.listdir(batch()["c"].file.parent) == ["mine.py"]


def test_what_is_hidden_or_made_by_tools_is_left_out(batch):
    there = {"a/mine.py": CLASS, "a/__pycache__/x.py": CLASS, "a/.git/x.py": CLASS, "a/venv/pyvenv.cfg": b"",
             "a/venv/x.py": CLASS, "a/.ipynb_checkpoints/x.ipynb": b"{}", ".DS_Store": b"",
             "__MACOSX/x.py": CLASS, "a/mine.deviations.toml": b"= no TOML"}  # fmt: skip
    there["b.zip"] = zipped(("mine.py", CLASS), ("__MACOSX/._mine.py", b"\0"), (".git/x.py", CLASS))
    came = batch(there)
    assert shown_of(came) == {"a": "a/mine.py", "b.zip": "b.zip/mine.py"}
    assert came["a"].digest == came["b.zip"].digest


def test_a_digest_is_that_of_contents_and_inner_names(batch):
    came = batch({"a/mine.py": CLASS, "a/w.txt": b"1", "b/x/mine.py": CLASS, "b/x/w.txt": b"1",
                  "c/mine.py": CLASS, "c/v.txt": b"1", "d/mine.py": CLASS, "d/w.txt": b"2"})  # fmt: skip
    digests = [came[name].digest for name in "abcd"]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("files", "wanted", "file"),
    [
        ({"mine.py": CLASS, "run.py": SCRIPT}, "", "mine.py"),
        ({"mine.py": CLASS, "test_mine.py": b"import mine\ndef test_mine(): pass\n"}, "", "mine.py"),
        ({"mine.py": b"from part import f\n" + CLASS, "part.py": b"def f(): pass\n"}, "", "mine.py"),
        ({"mine.py": CLASS, "other.py": CLASS}, "mine.py", "mine.py"),
        ({"mine.py": CLASS, "old/mine.py": CLASS}, "mine.py", "mine.py"),
        ({"x/other.py": CLASS}, "mine.py", "x/other.py"),
        ({"mine.ipynb": b'{"cells": [{"cell_type": "code", "source": ["class A: pass"]}]}', "run.py": SCRIPT}, "",
         "mine.ipynb"),
        ({"mine.py": CLASS, "deep.ipynb": b"[" * 10**5}, "", "mine.py"),
    ],
)  # fmt: skip
def test_the_file_to_judge_is_chosen(batch, files, wanted, file):
    came = batch({f"a/{name}": raw for name, raw in files.items()}, wanted)
    assert shown_of(came) == {"a": f"a/{file}"}


def test_where_it_cannot_be_told_which_is_meant_the_files_are_listed(batch):
    came = batch({"a/one.py": CLASS, "a/two.py": CLASS, "b/x.py": SCRIPT, "b/y.py": SCRIPT}, "mine.py")
    assert shown_of(came) == {
        "a": "one is to be judged, and none is named mine.py; there are one.py, two.py",
        "b": "one is to be judged, and none is named mine.py; there are x.py, y.py",
    }


def test_one_path_is_one_submission(batch, tmp_path):
    batch({"a.py": CLASS})
    assert one(batch.folder / "a.py", tmp_path / "other").file == tmp_path / "other" / "a.py" / "a.py"


def test_nothing_is_run(batch, tmp_path):
    batch({"a/mine.py": f"open({str(tmp_path / 'ran')!r}, 'w')\nclass A: pass".encode(), "a/b.py": SCRIPT})
    assert not (tmp_path / "ran").exists()


# -- what is refused


def test_what_holds_nothing_is_empty(batch):
    (batch.folder / "a").mkdir()
    came = batch({"b/readme.md": b"", "c.py": b" \n", "d.zip": zipped(), "e.tar": tarred()})
    assert all(s.is_empty and s.refused.startswith(EMPTY) and s.file is None for s in came.values())
    assert list(came) == ["a", "b", "c.py", "d.zip", "e.tar"]


def test_what_is_no_submission_is_said(batch):
    assert shown_of(batch({"a.rar": b"", "b.txt": b""})) == dict.fromkeys(
        ("a.rar", "b.txt"), "is neither .py, .ipynb, a folder, .zip, .tar, .tar.gz nor .tar.xz"
    )


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and sockets as POSIX has them")
def test_links_pipes_and_sockets_are_not_opened(batch, tmp_path, monkeypatch):
    batch({"f/mine.py": CLASS})
    (batch.folder / "a.py").symlink_to(__file__)
    (batch.folder / "b").symlink_to(tmp_path)
    (batch.folder / "c.zip").symlink_to("/dev/zero")
    os.mkfifo(batch.folder / "d.py")
    (batch.folder / "f" / "x.py").symlink_to("mine.py")
    with socket.socket(socket.AF_UNIX) as here:
        monkeypatch.chdir(batch.folder)
        here.bind("e.py")
        came = shown_of(batch())
    link, other = "is a link, which is not followed", "is no file: a pipe, a socket or a device"
    assert came == {"a.py": link, "b": link, "c.zip": link, "d.py": other, "e.py": other, "f": f"x.py {link}"}


def test_large_files_are_refused(batch, monkeypatch):
    monkeypatch.setattr(contents, "MOST_FILES", 3)
    large = b"#" * (4 * 2**20 + 1)
    came = batch({"a.py": large, "b/mine.ipynb": large, "c.zip": zipped(("mine.py", large)),
                  **{f"d/{n}.py": CLASS for n in range(4)}, "e/mine.py": CLASS, "e/report.pdf": large})  # fmt: skip
    assert shown_of(came) == {
        "a.py": "has more than 4 MiB",
        "b": "mine.ipynb has more than 4 MiB; a notebook is smaller without its outputs",
        "c.zip": "unpacks to more than 100 times its size",
        "d": "has more than 3 files",
        "e": "e/mine.py",
    }


def linked(kind):
    info = zipfile.ZipInfo("mine.py")
    info.external_attr = kind << 28
    return zipped((info, "/etc/passwd"))


def flagged(raw, flag):
    """Return a zip archive whose entries have a flag."""
    at = raw.index(b"PK\1\2")
    return raw[: at + 8] + bytes([flag, 0]) + raw[at + 10 :]


def endless():
    """Return a tar archive one of whose entries leads back to the first."""
    info = tarfile.TarInfo("mine.py")
    info.pax_headers = {"size": "-3072"}
    return info.tobuf(tarfile.PAX_FORMAT) + bytes(10240)


BOMB = bytes(65 * 2**20)
OUTSIDE = "in it leads outside"
LINK = "in it is a link or a device, want files and folders"


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("a.zip", zipped(("../mine.py", CLASS)), f"../mine.py {OUTSIDE}"),
        ("a.zip", zipped(("x\\..\\..\\mine.py", CLASS)), OUTSIDE),
        ("a.zip", zipped(("/tmp/mine.py", CLASS)), f"/tmp/mine.py {OUTSIDE}"),
        ("a.zip", zipped(("C:\\mine.py", CLASS)), OUTSIDE),
        ("a.zip", linked(0xA), f"mine.py {LINK}"),
        ("a.zip", linked(0x2), f"mine.py {LINK}"),
        ("a.zip", flagged(zipped(("mine.py", CLASS)), 1), "is encrypted"),
        ("a.zip", zipped(("mine.py", BOMB)), "unpacks to more than 64 MiB"),
        ("a.zip", zipped(("mine.py", CLASS), ("x", bytes(2**23))), "unpacks to more than 100 times its size"),
        ("a.zip", zipped(*((f"{n}.py", b"") for n in range(2001))), "has more than 2000 files"),
        ("a.zip", zipped(("mine.py", CLASS), ("mine.py/x.py", CLASS)), "mine.py/x.py cannot be written"),
        ("a.zip", zipped(("x" * 300 + ".py", CLASS)), "cannot be written: File name too long"),
        ("a.zip", zipped(("x" * 300 + "/mine.py", CLASS)), "cannot be written: File name too long"),
        ("a.zip", zipped(("x/" * 1500 + "mine.py", CLASS)), "has more than 32 folders in one another"),
        ("a.zip", b"PK\3\4", "is a broken archive: BadZipFile"),
        ("a.zip", zipped(("mine.py", CLASS))[:-30], "is a broken archive: BadZipFile"),
        ("a.zip", zipped(("other.zip", zipped(("mine.py", CLASS)))), "empty: there is no .py or .ipynb file in it"),
        ("a.tar", tarred(("../mine.py", CLASS)), f"../mine.py {OUTSIDE}"),
        ("a.tar", tarred(("/mine.py", CLASS)), f"/mine.py {OUTSIDE}"),
        ("a.tar", tarred(("mine.py", (tarfile.SYMTYPE, "/etc/passwd"))), f"mine.py {LINK}"),
        ("a.tar", tarred(("mine.py", (tarfile.LNKTYPE, "/etc/passwd"))), f"mine.py {LINK}"),
        ("a.tar", tarred(("mine.py", (tarfile.CHRTYPE, ""))), f"mine.py {LINK}"),
        ("a.tar", tarred(("mine.py", (tarfile.FIFOTYPE, ""))), f"mine.py {LINK}"),
        ("a.tar", tarred(("mine.py", CLASS), ("mine.py", CLASS)), "has the name mine.py twice"),
        ("a.tar", endless(), "is a broken archive: it has no end"),
        ("a.tar", b"no archive", "is a broken archive: ReadError"),
        ("a.tar.gz", gzip.compress(BOMB + bytes(2**24)), "unpacks to more than 64 MiB"),
        ("a.tar.gz", gzip.compress(tarred(("mine.py", CLASS)))[:-9], "is a broken archive: it ends too early"),
        ("a.tar.xz", b"no xz", "is a broken archive: LZMAError"),
    ],
)  # fmt: skip
def test_archives_that_are_none_or_more_than_that_are_refused_in_one_line(batch, tmp_path, name, raw, words):
    (came,) = batch({name: raw}).values()
    assert words in came.refused
    assert "\n" not in came.refused
    assert came.file is None
    assert {path.name for path in tmp_path.iterdir()} == {"batch", "work"}
    assert os.listdir(tmp_path / "work") == []


# -- names


@pytest.mark.skipif(os.name != "posix", reason="file names of any bytes")
def test_odd_names_are_shown_on_one_line_and_have_safe_keys(batch):
    odd = [b"-rf.py", b"a\nb.py", EVIL.encode(), b"\xff\xfe.py", "é.py".encode(), b"con.py", b"a" * 200 + b".py",
           b"=1+1.py", b"\x1b[31m.py", b"<b>.py", b"a b.py", b"A B.py", b"Ann.py", b"ann.py", b"bob.py"]  # fmt: skip
    came = batch(dict.fromkeys(odd, CLASS))
    assert len(came) == len(odd)
    assert all(name.isprintable() and name.encode() for name in came)
    lowered = {s.key.lower() for s in came.values()}
    assert len(lowered) == len(odd)
    for s in came.values():
        assert s.key.isascii()
        assert len(s.key) <= 80
        assert s.key[0] not in ".-"
        assert s.file.name.isascii()
    assert came["bob.py"].key == "bob.py"
    assert came["con.py"].key.startswith("of-con.py-")
    assert "\\u202egpj.py" in came


def test_a_key_that_somebody_chose_for_himself_is_not_given_twice():
    hashed = keys(["a b"])["a b"]
    both = keys(["a b", hashed])
    assert both[hashed] == hashed
    assert both["a b"] != hashed
    assert keys(["a\\x", "a/x"]) == keys(["a/x", "a\\x"])


def test_the_working_folder_is_no_name(tmp_path):
    (tmp_path / "mine.py").write_bytes(CLASS)
    assert one(Path(tmp_path), tmp_path.parent / f"{tmp_path.name}-work").shown == f"{tmp_path.name}/mine.py"
