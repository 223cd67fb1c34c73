"""Reading a user's text is not disturbed by what else goes on in its process."""

import ast

from attnconf.conformance.source.syntax import tree_of


class Parsing:
    """Garbage in a cycle: whenever it is collected, something is parsed, as a traceback that is printed does."""

    def __init__(self):
        self.cycle = self

    def __del__(self):
        ast.parse("x = 1")


def test_garbage_that_parses_does_not_disturb_a_text_that_is_parsed():
    text = "def f(x):\n" + "    y = g(x + 1, [2, 3])\n" * 3000
    for _ in range(20):
        garbage = [Parsing() for _ in range(20)]
        del garbage
        assert len(tree_of(text).body[0].body) == 3000
