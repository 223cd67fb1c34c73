"""Reading a file or a notebook: what is run of it, and what is said of one that cannot be read."""

import inspect
import json
import os
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
import torch
from command_line import in_process

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.loading.find import LoadError, Name
from attnconf.conformance.run.implementations import load
from attnconf.conformance.source import reader
from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.notebook import cells_of
from attnconf.conformance.source.reader import read, read_module

LAYER = """
class MyAttention(nn.Module):
    def __init__(self, size=SIZE):
        super().__init__()
        self.out = nn.Linear(size, size)

    def forward(self, x):
        return self.out(x) * scale
"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path; a list of cells becomes a notebook."""

    def write(content, name="homework.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in content]
            content = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
            path = path.with_suffix(".ipynb")
        if isinstance(content, str):
            content = textwrap.dedent(content).lstrip("\n").encode()
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def whole(write):
    """Return a function that reads a text, all of which is run."""

    def whole(content):
        found = read(write(content))
        assert not found.partial
        assert not found.left_out
        return found

    return whole


@pytest.fixture
def partly(write):
    """Return a function that reads a text or a notebook of which only the definitions are run."""

    def partly(content):
        found = read(write(content))
        assert found.partial
        return found

    return partly


def refused(path):
    with pytest.raises(NotLoaded) as error:
        read(path)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


# -- what is run


def test_imports_definitions_and_constants_are_run_whole(whole):
    found = whole('''
        """A layer."""
        import math, os
        from typing import TypeVar
        T = TypeVar("T")
        SIZE: int = 4
        scale = 1 / math.sqrt(SIZE)
        if os.getenv("BIG"):
            SIZE = 8
        try:
            import no_such_module
        except ImportError:
            no_such_module = None
        def f(x): return x * scale
        if __name__ == "__main__":
            raise RuntimeError
    ''')
    assert found.module.f(3) == 1.5
    assert found.names() == ["f"]


def test_of_a_script_only_what_definitions_need_is_run(partly):
    found = partly(
        "import torch\nfrom torch import nn\nimport no_such_plotting as plt\n"
        "torch.manual_seed(0)\n"
        "def size(): return 4\n"
        "SIZE = size()\n"
        "scale: float = torch.rand(1).item()\n"
        "scale += 1\n" + LAYER + "model = MyAttention()\n"
        "print('hello')\n"
        "for epoch in range(10**12):\n    loss = model(x)\n"
        "while True: pass\n"
        "assert False\n"
        "plt.plot([1])\n"
    )
    assert 1 < found.module.scale < 2
    assert found.module.MyAttention()(torch.ones(2, 4)).shape == (2, 4)
    assert found.printed == ""
    assert not hasattr(found.module, "model")
    assert found.left_out == (
        "line 3, `import no_such_plotting as plt`, which raised ModuleNotFoundError: "
        "No module named 'no_such_plotting'",
        "line 17, `model = MyAttention()`",
        "line 18, `print('hello')`",
        "line 19, `for epoch in range(10 ** 12):`",
        "line 21, `while True:`",
        "line 22, `assert False`",
        "line 23, `plt.plot([1])`",
    )
    assert found.untried().startswith(" (not run: line 3, ")
    assert found.untried().endswith("`print('hello')` and 4 more)")


@pytest.mark.parametrize(
    "needed",
    [
        "table = make()",
        "table, rest = make(), 2",
        "(table) = other = make()",
        "table: list = make()",
        "if cpu(): table = make()\nelse: table = None",
        "try:\n    table = missing()\nexcept NameError:\n    table = make()",
        "with opened(): table = make()",
        "for i in make(): table = [i]",
        "table = []\ntable.append(make()[0])",
        "table = list(made())\ntable[0] = make()[0]",
        "box = made()\ntable = box",
        "table = [0]\ntable += make()",
        "table = (lambda: make())()",
        "class Box: pass\nbox = Box()\nbox.table = make()\ntable = box.table",
    ],
)
@pytest.mark.parametrize(
    "reader",
    [
        "def f(): return table[-1]",
        "def f(last=table[-1]): return last",
        "class F:\n    last = table[-1]\ndef f(): return F.last",
        "def f():\n    def g(): return [table[-1] for _ in (1,)][0]\n    return g()",
        "f = lambda: table[-1]",
        "def outer(f): return lambda: table[-1]\n@outer\ndef f(): ...",
    ],
)
def test_what_a_definition_needs_is_run(partly, needed, reader):
    helpers = "def make(): return [7]\ndef made(): return [7]\ndef cpu(): return True\n"
    helpers += "from contextlib import nullcontext as opened\n"
    found = partly(f"{helpers}{needed}\n{reader}\nprint(f())\n")
    assert found.module.f() == 7


def test_a_local_name_needs_nothing(partly):
    found = partly("def fail(): raise RuntimeError\nx = fail()\ndef f(x):\n    y = x\n    return y\ny = fail()\n")
    assert found.module.f(2) == 2
    assert found.left_out == ("line 2, `x = fail()`", "line 6, `y = fail()`")


def test_what_trains_plots_or_fetches_needs_nothing_and_is_not_run(partly):
    found = partly("""
        import no_such_plotting as sns
        def make(): raise RuntimeError
        model = make()
        def train_all():
            model.loss().backward()
        def plot(x): sns.heatmap(x).figure.savefig("x.png")
        weights = library.from_pretrained("big")
        losses = train_all()
        text = input("which? ")
        def f(): return weights, losses, text
    """)
    assert "line 3, `model = make()`" in found.left_out
    for name in ("weights", "losses", "text"):
        assert "was not run: of this file only definitions and what they need are" in found.absent[name]


def test_what_cannot_work_is_taken_out_and_what_can_stays(partly):
    found = partly("""
        from torch import nn
        import no_such as n
        class Lost(nn.Module):
            def forward(self, x): return n.g(x)
        def also(): return Lost()
        class Trainer(n.Trainer): ...
        class Kept(nn.Module):
            def forward(self, x): return x
        def make(): return 1 / 0
        print(Kept())
    """)
    assert found.names() == ["Kept", "make"]
    assert found.lost == ("Lost",)
    want = "line 2, `import no_such as n`, raised ModuleNotFoundError: No module named 'no_such'; "
    assert found.absent["Lost"] == found.absent["also"] == f"{want}Lost (line 3) needs it"
    assert found.absent["Trainer"] == f"{want}Trainer (line 6) needs it"


def test_a_layer_that_cannot_work_is_not_forgotten(write, inferred, monkeypatch):
    path = write(
        "import no_such as n\nclass Lost:\n    def forward(self, x): return n.g(x)\nclass Kept: ...\nprint(Kept())\n"
    )
    said = (
        "line 1, `import no_such as n`, raised ModuleNotFoundError: No module named 'no_such'; Lost (line 2) needs it"
    )
    (lost,) = load(str(path))
    assert (lost.name, lost.reason) == (str(path), said)
    (lost,) = load(f"{path}:Lost")
    assert lost.reason == f"Lost has no value: {said}"
    kept = Implementation("Kept", {})
    monkeypatch.setattr("attnconf.conformance.run.implementations.infer", lambda *asked: [kept])
    assert [i.name for i in load(str(path))] == ["Kept", f"{path}:Lost"]


def test_a_changed_class_stays_changed(partly):
    found = partly("class A: pass\ndef f(self): return 3\nA.forward = f\nprint(A)\n")
    assert found.module.A().forward() == 3


def test_a_name_that_was_asked_for_is_needed(write):
    path = write("from functools import partial\ndef f(x, y): ...\ndef g(): return partial(f, 1)\nh = g()\nprint(h)\n")
    assert not hasattr(read(path).module, "h")
    assert callable(read(path, ["h"]).module.h)


def test_a_part_of_what_is_not_there_is_not_changed(partly):
    found = partly("def make(): ...\nx = make()\nx[0] = 1\ny += 1\nif True:\n    z = 1\n    w = z\nv = w\n")
    assert (found.module.z, found.module.w, found.module.v) == (1, 1, 1)
    assert found.left_out == ("line 2, `x = make()`", "line 3, `x[0] = 1`", "line 4, `y += 1`")


def test_annotations_from_the_future_hold_in_a_part_too(partly):
    partly("from __future__ import annotations\ndef f(x: Undefined) -> Nothing: ...\nprint(f)\n")


def test_a_file_without_definitions_is_run_whole_where_it_ends(write):
    assert refused(write("import sys\nprint(1)\nsys.exit('no')\n")) == "importing it called exit('no') (line 3)"
    assert read(write("while True:\n    pass\n", "endless.py")).left_out == ("line 1, `while True:`",)


def test_dataclasses_and_sources_can_be_looked_up(write):
    path = write("import dataclasses\n@dataclasses.dataclass\nclass C:\n    x: 'int' = 2\nprint(C)\n")
    found = read(path)
    assert found.module.C().x == 2
    assert inspect.getsource(found.module.C).startswith("@dataclasses.dataclass\nclass C:")
    assert sys.modules[found.module.__name__] is found.module
    assert found.module.__name__ != read(path).module.__name__
    assert found.module.__file__ == str(path)


# -- what it finds around it


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


# -- what it does to the process


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


# -- what cannot be read


TEXTS = {
    "empty": ("", "the file is empty"),
    "blank": ("\n\n", "the file is empty"),
    "syntax": ("x = 1\ndef f(:\n", "line 2: SyntaxError: invalid syntax"),
    "print": ("print 'x'\n", "line 1: SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?"),
    "indent": ("def f():\nreturn 1\n",
               "line 2: IndentationError: expected an indented block after function definition on line 1"),
    "outside": ("x = 1\nreturn x\n", "line 2: SyntaxError: 'return' outside function"),
    "null": (b"x = 1\ny = '\0'\n", "line 2: it holds a null byte, so it is no Python text"),
    "utf16": ("x = 1\n".encode("utf-16"), "its encoding is UTF-16, want UTF-8"),
    "latin": ("x = 1\n# é\n".encode("latin-1"), "line 2: the byte 0xe9 is not UTF-8; save the file as UTF-8"),
    "coding": (b"# coding: klingon\nx = 1\n", "line 1: SyntaxError: unknown encoding: klingon"),
    "raises": ("def f(): raise KeyError('x')\nclass C:\n    f()\n", "importing it raised KeyError: 'x' (line 1)"),
    "exits": ("import sys\nclass C:\n    sys.exit(2)\n", "importing it called exit(2) (line 3)"),
    "missing": ("import no_such\nx = 1\n",
                "importing it raised ModuleNotFoundError: No module named 'no_such' (line 1)"),
    "needed": ("import no_such as n\n\ndef f(x): return n.g(x)\nprint(f(1))\n",
               "line 1, `import no_such as n`, raised ModuleNotFoundError: No module named 'no_such'; "
               "f (line 3) needs it"),
    "indirect": ("from no_such import g\ndef h(): return g()\nx = h()\ndef f(y=x): ...\nprint(f(1))\n",
                 "line 1, `from no_such import g`, raised ModuleNotFoundError: No module named 'no_such'; "
                 "h (line 2) needs it"),
    "base": ("from no_such import Base\nclass C(Base): ...\nprint(C())\n",
             "line 1, `from no_such import Base`, raised ModuleNotFoundError: No module named 'no_such'; "
             "C (line 2) needs it"),
    "star": ("from no_such import *\nclass C:\n    x = Some\nprint(C())\n",
             "line 1, `from no_such import *`, raised ModuleNotFoundError: No module named 'no_such'; "
             "C (line 2) needs it"),
    "tried": ("import os\nf = 1\nn = input()\nprint(f)\nclass C:\n    size = int(n)\n",
              "reading its definitions, line 5, `class C:`, raised NameError: name 'n' is not defined (line 6); "
              "line 3, `n = input()`, was not run: of this file only definitions and what they need are"),
    "failed": ("import math\nn = math.nothing()\ndef f(x=n): ...\n",
               "reading its definitions, line 3, `def f(x=n):`, raised NameError: name 'n' is not defined; "
               "line 2, `n = math.nothing()`, raised AttributeError: module 'math' has no attribute 'nothing'"),
    "wordless": ("class E(Exception):\n    def __str__(self): return 1 / 0\nclass C:\n    raise E\n",
                 "importing it raised E (line 4)"),
    "mute": ("class C:\n    raise ValueError\n", "importing it raised ValueError (line 2)"),
}  # fmt: skip


def test_a_missing_import_costs_only_what_needs_it(write):
    found = read(
        write("import no_such\nfrom no_such.other import Config, f\ndef g(x): return f(x)\ndef h(x): return x\n")
    )
    assert found.names() == ["h"]
    assert found.absent["g"].startswith("line 2, `from no_such.other import Config, f`, raised ModuleNotFoundError")
    assert found.untried().startswith(" (not run: line 1, `import no_such`, which raised ModuleNotFoundError")


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_cannot_be_read_says_why(write, name):
    content, message = TEXTS[name]
    assert refused(write(content if isinstance(content, bytes) else content.encode())) == message


def test_a_mark_and_another_encoding_are_no_obstacle(write):
    assert read(write(b"\xef\xbb\xbfx = 'a'\r\ny = 2\r\n")).module.y == 2
    assert read(write("# coding: latin-1\nx = 'é'\n".encode("latin-1"))).module.x == "é"


def test_a_file_that_may_not_be_read(write, monkeypatch):
    path = write("x = 1\n")

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(NotThere, match=r"cannot read '.*homework.py': Permission denied"):
        read(path)
    with pytest.raises(LoadError, match="Permission denied"):
        load(str(path))


# -- notebooks


def test_a_notebook_is_read_cell_by_cell(partly):
    found = partly(
        [
            ["import torch\n", "from torch import nn\n", "%matplotlib inline\n", "!pip install einops \\\n", "  timm"],
            "%%bash\necho class def\n",
            "%%time\nSIZE = 4\nscale = 2.0",
            "",
            LAYER,
            "attention = MyAttention()\nattention(torch.ones(2, 4)).shape",
            "files = !ls\nMyAttention?\n?nn.Linear\nfor f in files:\n    %time print(f)",
            "SIZE = 8 +",
            "text = '''\n% not a magic\n'''\nn = (7\n  % 4)\ndef f(): return text, n, display(n)\n!ls",
        ]
    )
    assert found.module.MyAttention()(torch.ones(2, 4)).shape == (2, 4)
    assert found.module.f() == ("\n% not a magic\n", 3, None)
    assert found.left_out[0] == "cell 8, line 1: SyntaxError: invalid syntax"
    assert "cell 6, line 1, `attention = MyAttention()`" in found.left_out
    line = found.module.MyAttention.forward.__code__.co_firstlineno
    assert found.place(line) == "cell 5, line 7"
    assert reader.where(found.module.__file__, line) == "homework.ipynb, cell 5, line 7"
    assert inspect.getsource(found.module.MyAttention).startswith("class MyAttention(nn.Module):")
    assert found.text.splitlines()[line - 1] == "    def forward(self, x):"


def test_a_later_cell_replaces_what_an_earlier_one_defined(write):
    assert read(write(["def f(): return 1", "def f(): return 2", "await f()"])).module.f() == 2


def test_a_notebook_of_an_older_format(write):
    cells = [{"cell_type": "markdown", "source": "x"}, {"cell_type": "code", "input": ["def f(): return 5\n"]}]
    old = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    assert read(write(json.dumps(old), "old.ipynb")).module.f() == 5


NOTEBOOK_FILES = sorted((Path(__file__).parent / "submissions").glob("*/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOK_FILES, ids=[path.stem for path in NOTEBOOK_FILES])
def test_the_cells_of_a_notebook_are_those_that_nbformat_reads(path):
    found = cells_of(path.read_bytes())
    want = [cell.source.split("\n") for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    starts = [first - 1 for first, _ in found.starts]
    ends = [*starts[1:], len(found.text.splitlines())]
    lines = [found.text.splitlines()[start:end] for start, end in zip(starts, ends, strict=True)]
    differ = [(x, y) for a, b in zip(lines, want, strict=True) for x, y in zip(a, b, strict=True) if x != y]
    assert all(x.strip() in ("", "pass") and y.lstrip().startswith(("%", "!")) for x, y in differ)


def notebook(**content):
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [], **content})


NOTEBOOKS = {
    "empty": ("", "the file is empty"),
    "text": ("def f(): ...\n", "it is not a notebook: line 1 is not JSON: Expecting value"),
    "cut": (notebook()[:-1], "it is not a notebook: line 1 is not JSON: Expecting ',' delimiter"),
    "binary": (b"\x93\xff\xfe\x00\x81", "it is not a notebook: it is not JSON: 'utf-8' codec can't decode byte 0x93"),
    "list": ("[]", "it is not a notebook: it is JSON, but has no cells"),
    "object": ("{}", "it is not a notebook: it is JSON, but has no cells"),
    "no cells": (notebook(), "the notebook has no code in it"),
    "no code": (notebook(cells=[{"cell_type": "markdown", "source": "x"}]), "the notebook has no code in it"),
    "sourceless": (notebook(cells=[{"cell_type": "code"}]), "it is not a notebook: a cell has no 'input'"),
    "odd": (notebook(cells=[3]), "it is not a notebook: a cell is not what the format says"),
    "other": (notebook(metadata={"kernelspec": {"language": "julia"}}), "it is a notebook in julia, want Python"),
    "named": (notebook(metadata={"language_info": {"name": "R"}}), "it is a notebook in R, want Python"),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_that_cannot_be_read_says_why(write, name):
    content, message = NOTEBOOKS[name]
    assert refused(write(content, "homework.ipynb")).startswith(message)


CELLS = {
    "syntax": (["x = 1", "# a layer\ndef f(:\n  ..."], "cell 2, line 2: SyntaxError: invalid syntax"),
    "missing": (["\nimport no_such", "def f(): return no_such.x", "print(f())"],
                "cell 1, line 2, `import no_such`, raised ModuleNotFoundError: No module named 'no_such'; "
                "f (cell 2, line 1) needs it"),
    "raises": (["x = 1", "class C:\n    def f(): return 1 / 0\n    f()"],
               "reading its definitions, cell 2, line 1, `class C:`, raised ZeroDivisionError: division by zero "
               "(cell 2, line 2)"),
    "outside": (["def f(): ...", "return 3"], "cell 2, line 1: SyntaxError: 'return' outside function"),
    "broken": (["SIZE = 8 +", "class C:\n    x = SIZE"],
               "reading its definitions, cell 2, line 1, `class C:`, raised NameError: name 'SIZE' is not defined "
               "(cell 2, line 2) (not run: cell 1, line 1: SyntaxError: invalid syntax)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_fails_is_named(write, name):
    cells, message = CELLS[name]
    assert refused(write(cells)) == message


# -- names


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("homework.py", ("homework.py", None, None)),
        ("a/homework.ipynb:MyAttention", ("a/homework.ipynb", "MyAttention", None)),
        ("homework.py@encoder_layer", ("homework.py", None, "encoder_layer")),
        ("pkg.module:f@layer-norm", ("pkg.module", "f", "layer_norm")),
        ("me@home/x.py:f", ("me@home/x.py", "f", None)),
        (r"C:\x.py", (r"C:\x.py", None, None)),
    ],
)
def test_a_name_is_taken_apart(typed, parts):
    name = Name.of(typed)
    assert (name.target, name.chosen, name.component) == parts


def test_an_unknown_component_is_the_callers_mistake():
    with pytest.raises(LoadError, match=r"--impl x\.py@atention: no component 'atention': there are attention, multi_"):
        Name.of("x.py@atention")
    with pytest.raises(LoadError, match=r"; nearest: attention$"):
        Name.of("x.py@atention")


@pytest.fixture
def inferred(monkeypatch):
    """Return what inference was asked."""
    asked = []

    def infer(source, label, chosen, component, prescribed=None):
        asked.append((source.module.__name__, label, chosen, component))
        return [Unjudgeable(label, str(source.path), "nothing")]

    monkeypatch.setattr("attnconf.conformance.run.implementations.infer", infer)
    return asked


def test_what_is_no_adapter_is_inferred(write, inferred):
    path = write("def attention(q, k, v): ...\nclass A: ...\nprint(1)\n", "plain.py")
    (found,) = load(f"{path}:A@attention")
    assert inferred == [("plain", f"{path}:A@attention", "A", "attention")]
    assert (found.name, found.reason) == (f"{path}:A@attention", "nothing (not run: line 3, `print(1)`)")
    load(str(path))
    assert inferred[1][2:] == (None, None)


def test_a_class_beside_adapter_functions_is_inferred(write, inferred):
    path = write("class A: ...\ndef attention(config, weights): ...\ndef layer_norm(config, weights): ...\n")
    load(f"{path}:A")
    assert inferred[0][2] == "A"
    assert list(load(str(path))[0].components) == ["attention", "layer_norm"]
    (found,) = load(f"{path}@layer_norm")
    assert (found.name, list(found.components)) == (f"{path}@layer_norm", ["layer_norm"])
    with pytest.raises(LoadError, match=r"has no component 'rms_norm' \(it has attention, layer_norm\)"):
        load(f"{path}@rms_norm")


def test_an_adapter_is_run_whole(write):
    path = write("made = {}\nfor n in ('a',):\n    made[n] = n\ndef attention(config, weights): ...\nprint(made)\n")
    found = read(path)
    assert not found.partial
    assert found.printed == "{'a': 'a'}\n"


@pytest.mark.parametrize("typed", ["torch.nn.MultiheadAttention", "torch.nn:MultiheadAttention"])
def test_a_class_of_a_library_is_reached_by_dot_or_colon(typed, inferred):
    load(typed)
    assert inferred == [("torch.nn", typed, "MultiheadAttention", None)]


def test_a_module_of_a_library_is_read(capfd):
    found = read_module("torch.nn")
    assert found.path.name == "__init__.py"
    assert "MultiheadAttention" in found.text or "modules" in found.text


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("torch.nn.MultiheadAtention",
         "no implementation 'torch.nn.MultiheadAtention': the module torch.nn has no 'MultiheadAtention'; "
         "nearest: torch.nn.MultiheadAttention"),
        ("no_such_library.layers.Attention", "; there is no module 'no_such_library'"),
    ],
)  # fmt: skip
def test_a_dotted_name_that_leads_nowhere(typed, message):
    with pytest.raises(LoadError) as error:
        load(typed)
    assert message in str(error.value)


def test_a_name_that_the_file_does_not_have(write):
    path = write("from torch import nn\nclass MyAttention: ...\ndef helper(): ...\nx = helper()\nn = 3\n")
    said = {name: load(f"{path}:{name}")[0].reason for name in ("MyAtention", "x", "n")}
    assert said == {
        "MyAtention": "it has no class or function 'MyAtention': it has MyAttention, helper; nearest: MyAttention",
        "x": "x is of type NoneType, want a class or a function",
        "n": "n is of type int, want a class or a function",
    }
    (found,) = load("torch.nn:MultiheadAtention")
    assert found.reason.endswith("nearest: MultiheadAttention")


def test_what_was_not_run_is_said_where_nothing_else_explains(write, inferred):
    path = write("class C:\n    def f(): return 1 / 0\n    f()\nprint(C)\nprint(C())\nprint(1)\nprint(2)\n")
    (found,) = load(str(path))
    assert (
        found.reason
        == "reading its definitions, line 1, `class C:`, raised ZeroDivisionError: division by zero (line 2)"
    )
    path = write("class C: ...\nprint(C)\nprint(C())\nprint(1)\nprint(2)\n", "other.py")
    (found,) = load(str(path))
    assert found.reason == "nothing (not run: line 2, `print(C)`; line 3, `print(C())`; line 4, `print(1)` and 1 more)"


def test_a_name_whose_statement_failed(write):
    path = write("def build(): return 1 / 0\nmodel = build()\nprint(model)\n")
    (found,) = load(f"{path}:model")
    want = "model has no value: line 2, `model = build()`, raised ZeroDivisionError: division by zero (line 1)"
    assert found.reason == want


def test_a_definition_that_failed_is_told(write, inferred):
    path = write("def helper(): ...\nclass C:\n    size = helper().size\nprint(C)\n")
    (found,) = load(str(path))
    assert found.name == str(path)
    assert found.reason == (
        "reading its definitions, line 2, `class C:`, raised AttributeError: 'NoneType' object has no attribute 'size' "
        "(line 3)"
    )


# -- through the command line


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return one run over files that cannot be judged."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "loud.py").write_text("print('LOUD')\ndef f(): ...\ninput()\n", encoding="utf-8")
    (folder / "bad.ipynb").write_text("no notebook", encoding="utf-8")
    (folder / "needs.py").write_text(
        "import no_such\nprint('LOUD')\ndef f(): return no_such.x\n",
        encoding="utf-8",
    )
    names = ["loud.py", "loud.py:g", "bad.ipynb", "needs.py"]
    return in_process("run", *(f"--impl={name}" for name in names), cwd=folder)


def test_every_file_gets_its_reason_once(run):
    assert run.returncode == 1
    assert "Traceback" not in run.stdout + run.stderr
    assert "LOUD'" not in run.stdout.replace("`print('LOUD')`", "")
    for line in (
        "loud.py:g: NOT-GRADABLE; it has no class or function 'g': it has f",
        "bad.ipynb: NOT-GRADABLE; it is not a notebook: line 1 is not JSON: Expecting value",
        "needs.py: NOT-GRADABLE; line 1, `import no_such`, raised ModuleNotFoundError: No module named 'no_such'; "
        "f (line 3) needs it",
    ):
        assert run.stdout.splitlines().count(line) == 1, run.stdout
        assert run.stdout.count(line.partition("; ")[2]) == 1, run.stdout


@pytest.mark.parametrize("name", ["bad.ipyn", "x.py@atention", "torch.nn.Nothing"])
def test_a_wrong_name_is_a_usage_error(tmp_path, name):
    (tmp_path / "bad.ipynb").write_text("{}", encoding="utf-8")
    done = in_process("run", f"--impl={name}", cwd=tmp_path)
    assert done.returncode == 2
    assert len([line for line in done.stderr.splitlines() if line]) == 1
