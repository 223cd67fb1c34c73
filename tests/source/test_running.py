"""What is run of a file: all of it, or its definitions and their needs."""

import inspect
import sys

import pytest
import torch
from reading import LAYER, refused

from attnconf.conformance.source.reader import read, read_module


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


def test_a_constant_that_only_a_script_has_is_run_where_a_definition_needs_it(partly):
    found = partly(
        "from math import sqrt\n"
        "def f(): return WIDTH * scale + kept\n"
        "kept = 1\n"
        "if __name__ == '__main__':\n"
        "    WIDTH = HALF = 2\n"
        "    kept = unread = 5\n"
        "    scale = sqrt(WIDTH)\n"
        "    for lost in range(3): print(f())\n"
        "else:\n"
        "    WIDTH = 7\n"
    )
    assert found.module.f() == 2 * 2**0.5 + 1
    assert not hasattr(found.module, "unread")
    assert found.printed == ""
    assert not found.left_out


def test_what_registers_functions_by_their_names_is_run(partly):
    found = partly(
        "import atexit, torch\n"
        "TABLE = {}\n"
        "def register(name):\n"
        "    def kept(f): TABLE[name] = f; return f\n"
        "    return kept\n"
        "register('relu')(torch.relu)\n"
        "register('never')(computed_below)\n"
        "atexit.register(print, 'the end')\n"
        "def f(name): return TABLE[name]\n"
        "computed_below = torch.ones(2).sigmoid()\n"
    )
    assert list(found.module.TABLE) == ["relu"]


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


def test_an_adapter_is_run_whole(write):
    path = write("made = {}\nfor n in ('a',):\n    made[n] = n\ndef attention(config, weights): ...\nprint(made)\n")
    found = read(path)
    assert not found.partial
    assert found.printed == "{'a': 'a'}\n"


def test_a_module_of_a_library_is_read(capfd):
    found = read_module("torch.nn")
    assert found.path.name == "__init__.py"
    assert "MultiheadAttention" in found.text or "modules" in found.text
