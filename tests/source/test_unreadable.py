"""What is said of a file that cannot be read."""

from pathlib import Path

import pytest
from reading import refused

from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run.implementations import load
from attnconf.conformance.source.not_loaded import NotThere
from attnconf.conformance.source.reader import read

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
