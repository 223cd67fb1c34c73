"""A notebook is read cell by cell."""

import inspect
import json
from pathlib import Path

import nbformat
import pytest
import torch
from reading import LAYER, refused

from attnconf.conformance.source import reader
from attnconf.conformance.source.notebook import cells_of
from attnconf.conformance.source.reader import read


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


NOTEBOOK_FILES = sorted((Path(__file__).parents[1] / "submissions").glob("*/*.ipynb"))


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
