"""What a file finds around it, and what it does to the process."""

import os
import sys

import pytest
import torch
from reading import refused

from attnconf.conformance.source.reader import read


def test_a_file_may_import_what_lies_beside_it(write, tmp_path):
    path = [tmp_path / "a" / "homework.py", tmp_path / "b" / "homework.py"]
    for i, p in enumerate(path):
        write(f"VALUE = {i}\n", f"{p.parent.name}/beside.py")
        write("from beside import VALUE\ndef late():\n    import beside\n", f"{p.parent.name}/homework.py")
    assert [read(p).module.VALUE for p in path] == [0, 1]
    read(path[0]).module.late()
    write("import beside\n", "c/homework.py")
    assert "No module named 'beside'" in refused(tmp_path / "c" / "homework.py")


def test_relative_imports_find_their_folder_without_running_the_package(write):
    write("raise RuntimeError\n", "project/package/__init__.py")
    write("from ..other import y\nx = y\n", "project/package/near.py")
    write("y = 5\n", "project/other.py")
    assert read(write("from .near import x\nfrom ..other import y\n", "project/package/layer.py")).module.x == 5


def test_a_file_of_a_package_finds_what_the_package_has(write):
    write("version = 3\n", "package/__init__.py")
    write("from package.other import y\n", "package/near.py")
    write("y = 5\n", "package/other.py")
    path = write("from . import version\nfrom .near import y\nfrom package.near import y as z\n", "package/package.py")
    found = read(path).module
    assert (found.version, found.y, found.z) == (3, 5, 5)


def test_a_file_in_a_project_imports_from_the_top_of_it(write):
    write("", "project/requirements.txt")
    write("x = 1\n", "project/models/norms.py")
    assert read(write("from models.norms import x\n", "project/models/layers/layer.py")).module.x == 1


def test_what_lies_beside_a_file_is_read_as_far_as_it_goes(write):
    write("import importlib.metadata\nimportlib.metadata.version('not-installed-at-all')\n", "package/__init__.py")
    write("""
        import no_such_tracker
        DATA = open("no such file").read()
        SIZE = len("size")
        def plain(x):
            return x
        def tracked(x):
            return no_such_tracker.log(x)
    """, "package/parts.py")  # fmt: skip
    path = write("from package.parts import SIZE, plain\ndef late():\n    return plain(SIZE)\n", "package/layer.py")
    assert read(path).module.late() == 4
    lost = refused(write("from package.parts import tracked\nx = tracked(5)\n", "package/other.py"))
    assert "package.parts has no tracked" in lost
    assert "No module named 'no_such_tracker'" in lost


def test_what_lies_beside_an_adapter_is_run_as_it_is(write):
    write("import no_such_tracker\ndef plain(x):\n    return x\n", "parts.py")
    assert "No module named 'no_such_tracker'" in refused(
        write("from parts import plain\ndef attention(config, weights):\n    return plain\n", "adapter.py")
    )


@pytest.mark.parametrize("package", [True, False])
def test_a_file_of_its_packages_name_imports_from_the_package(write, package):
    if package:
        write("", "project/model/__init__.py")
    write("", "project/requirements.txt")
    write("from model.rope import x\n", "project/model/norm.py")
    write("x = 5\n", "project/model/rope.py")
    assert read(write("from model.norm import x\n", "project/model/model.py")).module.x == 5
    assert read(write("from model import rope\nx = rope.x\n", "project/model/norms.py")).module.x == 5


def test_what_it_prints_is_kept_and_not_shown(whole, capfd):
    found = whole("""
        import sys, warnings
        def f():
            print("out")
            print("err", file=sys.stderr)
            sys.stdout.buffer.write(b"bytes\\n")
            sys.stdout.reconfigure(encoding="utf-8")
            print("\\ud800")
            warnings.warn("careful")
            sys.stdout.close()
        class C:
            f()
    """)
    assert found.printed == "out\nerr\nbytes\n\\ud800\nUserWarning: careful\n"
    assert capfd.readouterr() == ("", "")


def test_the_settings_of_the_process_are_as_before(whole, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    before = os.getcwd(), list(sys.argv), torch.get_default_dtype()
    found = whole("""
        import os, sys, torch, argparse
        class C:
            os.chdir("/")
            torch.set_default_dtype(torch.float64)
            torch.set_grad_enabled(False)
            parser = argparse.ArgumentParser()
            arguments = parser.parse_args()
            backend = os.environ["MPLBACKEND"]
            sys.argv.append("x")
    """)
    assert found.module.C.backend == "Agg"
    assert "MPLBACKEND" not in os.environ
    assert (os.getcwd(), sys.argv, torch.get_default_dtype()) == before
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("reading", ["input()", "sys.stdin.read()", "list(sys.stdin)", "sys.stdin.readlines()"])
def test_there_is_nobody_to_ask(write, reading):
    said = refused(write(f"import sys\nclass C:\n    x = {reading}\n"))
    assert said == "importing it raised RuntimeError: it reads from standard input, and there is nobody to ask (line 3)"
