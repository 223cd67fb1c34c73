"""Forbidden names are seen however a file imports them, and whatever else the file is."""

import json
import os

import pytest

from attnconf.conformance.grading.examine import Task, examined
from attnconf.conformance.grading.forbidden import seen
from attnconf.conformance.grading.rubric_text import parse

MHA, SDPA = "torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention"
NAMES = [MHA, SDPA, "xformers"]
RUBRIC = f"""\
title = "From scratch"
components = ["attention"]
forbidden = ["{SDPA}"]

[[item]]
name = "Shape"
points = 1
requirements = ["CALL-SHAPE-1"]
"""
HIDDEN = """\
from torch import nn


def attention(query, key, value, mask=None):
    fused = getattr(getattr(nn, "func" + "tional"), "scaled_dot" + "_product_attention")
    return fused(query, key, value, attn_mask=mask)
"""


def told(tmp_path, text, name="hw.py"):
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return seen(file, NAMES)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\n\nclass A(torch.nn.MultiheadAttention): pass", 3),
        ("import torch.nn as n\nx = n.MultiheadAttention(4, 2)", 2),
        ("import torch.nn\nx = torch.nn.MultiheadAttention(4, 2)", 2),
        ("from torch import nn as layers\n\ndef f():\n    return layers.MultiheadAttention", 4),
        ("from torch.nn import MultiheadAttention as M", 1),
        ("def f():\n    from torch.nn import Linear, MultiheadAttention", 2),
        ("from torch.nn import *\nx = MultiheadAttention(4, 2)", 2),
        ("import torch\nN = torch.nn\nx = N.MultiheadAttention(4, 2)", 3),
        ("import torch.nn as nn\nx = getattr(nn, 'MultiheadAttention')(4, 2)", 2),
        ("from torch.nn.modules.activation import MultiheadAttention", 1),
        ("import torch\nM = torch.nn.MultiheadAttention\nM(4, 2)", 2),
    ],
)
def test_a_name_is_seen_however_it_is_imported(tmp_path, text, line):
    assert told(tmp_path, text) == [f"names {MHA} (hw.py:{line})"]


def test_a_function_is_seen_and_each_name_once_at_its_first_place(tmp_path):
    text = "import torch.nn.functional as F\nimport xformers.ops\ndef f(q):\n    F.scaled_dot_product_attention(q)\n"
    assert told(tmp_path, text * 2) == ["names xformers (hw.py:2)", f"names {SDPA} (hw.py:4)"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n# torch.nn.MultiheadAttention\n'torch.nn.MultiheadAttention'",
        "class MultiheadAttention: pass\nMultiheadAttention()",
        "class nn: pass\nnn.MultiheadAttention",
        "import mine\nmine.nn.MultiheadAttention",
        "from . import MultiheadAttention\nfrom .. import nn",
        "import xformersmine",
        "def scaled_dot_product_attention(q, k, v): pass",
    ],
)
def test_names_of_the_file_s_own_are_none(tmp_path, text):
    assert told(tmp_path, text) == []


def test_notebooks_and_folders_are_read(tmp_path):
    cells = [{"cell_type": "code", "source": ["import torch.nn as nn"]},
             {"cell_type": "markdown", "source": ["nn.MultiheadAttention"]},
             {"cell_type": "code", "source": ["!pip install x\n", "nn.MultiheadAttention(4, 2)"]}]  # fmt: skip
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    assert told(tmp_path, book, "hw.ipynb") == [f"names {MHA} (hw.ipynb, cell 2, line 2)"]
    (tmp_path / "sub").mkdir()
    told(tmp_path, "import xformers", "sub/a.py")
    assert seen(tmp_path, NAMES) == [f"names {MHA} (hw.ipynb, cell 2, line 2)", "names xformers (a.py:1)"]


@pytest.mark.parametrize(
    "text",
    [b"", b"\0", b"\xff\xfe", b"\xff", b"def", b"(" * 100_000, b"x = " + b"-" * 100_000 + b"1", b"# coding: nope"],
)
def test_odd_files_are_passed_over(tmp_path, text):
    assert told(tmp_path, text) == []
    assert told(tmp_path, text, "hw.ipynb") == []


def test_what_is_no_ordinary_file_is_passed_over(tmp_path):
    assert seen(tmp_path / "none.py", NAMES) == []
    (tmp_path / "link.py").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    told(tmp_path, "import xformers\n" + "#" * 3_000_000, "long.py")
    assert seen(tmp_path, NAMES) == []


def test_nothing_of_a_file_is_run(tmp_path):
    mark = tmp_path / "mark"
    assert told(tmp_path, f"import xformers\nopen({str(mark)!r}, 'w')") == ["names xformers (hw.py:1)"]
    assert not mark.exists()


def test_what_a_text_hides_is_noted_where_it_is_called(tmp_path):
    (tmp_path / "mine.py").write_text(HIDDEN, encoding="utf-8")
    rubric = parse(RUBRIC, "hw.toml")
    record = examined(Task("mine", "mine.py", str(tmp_path), "mine.py", ""), rubric, 1)
    assert record["status"] == "judged"
    assert record["notes"] == [f"calls {SDPA}, which its text does not name"]
