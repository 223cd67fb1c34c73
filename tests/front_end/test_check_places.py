"""``attnconf.check`` in a notebook or script: the report is shown, and failures have their line and cell."""

import re
import warnings

from test_check import SELECTED, Reader, attention

import attnconf

CELLS = [
    "import attnconf, torch\n\ndef attention(config, weights):\n"
    "    def forward(query, key, value, *, need_weights=False, **masks):\n"
    "        print('here')\n"
    "        return torch.softmax(query @ key.transpose(-2, -1), dim=-1) @ value\n"
    "    return forward",
    "report = attnconf.check({'attention': attention}, select='ATT-SCALE-1 or CALL-SHAPE-1')\nreport",
    "print(report)\nassert not report, report.verdict",
]


def test_a_notebook_shows_the_report(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    defined, shown, printed = (cell["outputs"] for cell in notebook.cells)
    assert defined == []
    (result,) = shown  # and nothing that was printed while judging
    read = Reader(result["data"]["text/html"])
    assert "ATT-SCALE-1 violated by functions (attention)" in read.text
    assert "the scores are not divided by √E" in read.text
    assert 'attnconf.check(functions, select="ATT-SCALE-1 and' in read.text
    assert ("span", {"class": "verdict nonconformant"}) in read.tags
    assert result["data"]["text/plain"].startswith("<attnconf.Report: nonconformant")
    assert "ATT-SCALE-1 violated by functions (attention)" in printed[0]["text"]


HELPER = "import torch\n\ndef scores(q, k):\n    # no root\n    return q @ k.transpose(-2, -1)"
LAYER = """from torch import nn

class Attention(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(scores(q, k), dim=-1) @ v
"""
BROKEN = "class LayerNorm(nn.Module):\n    def forward(self, x):\n        return x.nope()"


def test_a_notebook_is_told_which_line_of_which_cell(tmp_path):
    cells = [
        HELPER, LAYER, BROKEN,
        "import attnconf\nprint(attnconf.check(Attention, select='ATT-SCALE-1 or CALL-SHAPE-1'))",
        "print(attnconf.check(LayerNorm))",
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    wrong, broken = ("".join(out["text"] for out in cell["outputs"]) for cell in notebook.cells[3:])
    assert "  where     In [1], line 5  return q @ k.transpose(-2, -1)\n" in wrong
    assert "NOT-GRADABLE; LayerNorm (In [3], line 1): AttributeError" in broken
    assert "(In [3], line 3)" in broken


def test_a_class_of_another_folder_has_its_line(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(f"{HELPER}\n\n\n{LAYER}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import elsewhere

    for target in (elsewhere.Attention, elsewhere, "elsewhere:Attention", tmp_path / "elsewhere.py"):
        report = str(attnconf.check(target, select="ATT-SCALE-1 or CALL-SHAPE-1"))
        assert "  where     elsewhere.py:5  return q @ k.transpose(-2, -1)\n" in report


def test_functions_of_a_dict_have_their_line():
    report = attnconf.check({"attention": attention}, select=SELECTED)
    assert re.search(r"  where     test_check\.py:\d+  scores = query @ key.transpose\(-2, -1\) \*", str(report))
