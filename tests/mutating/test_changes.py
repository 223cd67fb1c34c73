"""Changes of code: every kind is made, one place at a time, and the rest of a file stays as it is."""

import ast

import pytest

from attnconf.conformance.mutating.changes import Ran, changes
from attnconf.conformance.mutating.kinds import KINDS
from attnconf.conformance.source.syntax import tree_of

CASES = [  # kind, statement before, one of the statements after
    ("operator", "y = a + b", "y = a - b"),
    ("operator", "y = a * b", "y = a"),
    ("operator", "y += 1", "y -= 1"),
    ("operator", "y = a.masked_fill(~m, 1)", "y = a.masked_fill(m, 1)"),
    ("operator", "y = a and b", "y = a or b"),
    ("comparison", "y = a < b", "y = a <= b"),
    ("comparison", "y = a is None", "y = a is not None"),
    ("constant", "y = 1e-05", "y = 0.001"),
    ("constant", "y = f(True)", "y = f(False)"),
    ("constant", "y = 3", "y = 4"),
    ("axis", "y = softmax(x, dim=-1)", "y = softmax(x, dim=-2)"),
    ("axis", "y = x.transpose(1, 2)", "y = x.transpose(1, 3)"),
    ("axis", 'y = einsum("ij,jk->ik", a, b)', "y = einsum('ij,jk->ki', a, b)"),
    ("axis", 'y = rearrange(x, "b n h -> b h n")', "y = rearrange(x, 'b n h -> h b n')"),
    ("argument removed", "y = f(x, mask)", "y = f(x)"),
    ("argument removed", "y = f(x, bias=False)", "y = f(x)"),
    ("arguments exchanged", "y = f(a, b)", "y = f(b, a)"),
    ("arguments exchanged", "y = a @ b", "y = b @ a"),
    ("arguments exchanged", "y = f(p=a, q=b)", "y = f(p=b, q=a)"),
    ("call exchanged", "y = x.mean(1)", "y = x.sum(1)"),
    ("call exchanged", "y = torch.zeros(3)", "y = torch.ones(3)"),
    ("call exchanged", "y = m.tril()", "y = m.triu()"),
    ("call exchanged", 'y = s.masked_fill(m, float("-inf"))', "y = s.masked_fill(m, 0.0)"),
    ("call removed", "y = self.dropout(x)", "y = x"),
    ("call removed", "y = x.contiguous()", "y = x"),
    ("statement removed", "x = x * mask", "pass"),
    ("statement removed", "x.mul_(2)", "pass"),
    ("condition negated", "y = a if causal else b", "y = a if not causal else b"),
    ("slice shifted", "y = x[:n]", "y = x[:n - 1]"),
    ("slice shifted", "y = x[:n]", "y = x[1:n]"),
]


@pytest.mark.parametrize(("kind", "before", "after"), CASES)
def test_a_statement_is_changed_into(kind, before, after):
    made = changes(f"def f(x):\n    {before}\n    return y\n")
    assert (kind, before, after) in [(c.kind, c.before, c.after) for c in made]


def test_there_is_an_example_of_every_kind():
    assert {kind for kind, _, _ in CASES} == set(KINDS)


def test_a_condition_is_negated():
    made = changes("def f(x):\n    if x > 1:\n        x = 2\n    return x\n")
    assert ("condition negated", "if not x > 1:") in [(c.kind, c.after) for c in made]


TEXT = '''
"""About this file: 1 + 1."""
import torch


def f(x, n: int = 3):  # what f does, 1 + 1
    """Return x."""
    if n < 0:
        raise ValueError("n is " + "negative")
    größe = x  +  n   # spaced
    return f"{größe}"


if __name__ == "__main__":
    print(f(1 + 1))
'''


def test_the_rest_of_a_file_stays_as_it_is():
    for change in changes(TEXT):
        old, new = TEXT.splitlines(), change.text.splitlines()
        different = [i for i, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        assert different == [change.line]
        assert ast.dump(tree_of(change.text)) != ast.dump(tree_of(TEXT))


def test_words_annotations_and_what_is_run_as_a_script_are_left():
    assert {c.line for c in changes(TEXT)} == {6, 8, 10}
    assert not [c for c in changes(TEXT) if "int" not in c.text.splitlines()[5]]


def test_no_change_is_made_twice():
    texts = [c.text for c in changes(TEXT)]
    assert len(texts) == len(set(texts))


def test_only_what_ran_is_changed():
    text = "N = 3\nM = 4\n\n\ndef f(x):\n    return x + N\n\n\ndef g(x):\n    return x + M\n"
    made = changes(text, Ran(frozenset({6}), frozenset({"N"})))
    assert {c.line for c in made} == {1, 6}
