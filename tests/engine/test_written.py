"""What comes back as ids, text or merges: read once, into numbers, with clear words for what is something else."""

from dataclasses import dataclass

import pytest
import torch

from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Implementation, Request

GIVEN = {"tokenizer": {"text": "a b"}, "detokenizer": {"ids": [3, 1, 2]}, "bpe_trainer": {"words": ["b", "ab"]}}


@dataclass(frozen=True)
class Nothing:
    pass


def put(component, forward):
    implementation = Implementation("made-up", {component: lambda config, weights: forward})
    return call(implementation, Request(component, Nothing(), {}, GIVEN[component], ()))


@pytest.mark.parametrize("ids", [[], [0, 5, 2**40], (1, 2), torch.tensor([4, 0]), torch.tensor([4], dtype=torch.uint8)])
def test_ids_come_back_as_they_are(ids):
    assert text_codec.ids(put("tokenizer", lambda text: ids).out) == [int(i) for i in ids]


@pytest.mark.parametrize("text", ["", "low er", "é\u0301\U0001f680\n", "\ud800"])
def test_texts_come_back_as_they_are(text):
    assert text_codec.text(put("detokenizer", lambda ids: text).out) == text


@pytest.mark.parametrize("merges", [[], [("a", "b</w>")], [("", ""), ("aé", "")], (["a", "b"], ["ab", "\x00"])])
def test_merges_come_back_as_they_are(merges):
    got = text_codec.merges(put("bpe_trainer", lambda words: merges).out)
    assert got == [tuple(pair) for pair in merges]


def test_different_merges_are_different_numbers():
    one, other = ([("ab", "c")], [("a", "bc")])
    assert put("bpe_trainer", lambda words: one).out.tolist() != put("bpe_trainer", lambda words: other).out.tolist()


class Lying(str):
    def __iter__(self):
        raise RuntimeError("never")


class Endless(list):
    def __iter__(self):
        raise RecursionError


WANT_IDS = "want a list of ids, or a 1-d tensor of integers"
IDS, TEXT, MERGES = "tokenizer", "detokenizer", "bpe_trainer"
REFUSED = {
    "no ids": (IDS, None, f"returned None, {WANT_IDS}"),
    "a text": (IDS, "abc", f"returned a str, {WANT_IDS}"),
    "a tensor of floats": (
        IDS,
        torch.ones(2),
        "returned a torch.Tensor of shape (2,), want a list of ids, or a 1-d tensor of integers",
    ),
    "a batch": (
        IDS,
        torch.ones(1, 2).long(),
        "returned a torch.Tensor of shape (1, 2), want a list of ids, or a 1-d tensor of integers",
    ),
    "floats": (IDS, [1, 2.0], "id 1 is a float, want an int"),
    "truth": (IDS, [True], "id 0 is a bool, want an int"),
    "tokens": (IDS, ["a"], "id 0 is a str, want an int"),
    "endless ids": (IDS, [10**30], "id 0 is too large for any vocabulary"),
    "what cannot be read": (IDS, Endless([1]), "reading its ids raised RecursionError"),
    "no text": (TEXT, None, "returned None, want a str"),
    "bytes": (TEXT, b"abc", "returned a bytes, want a str"),
    "words": (TEXT, ["a", "b"], "returned a list, want a str"),
    "a lying text": (TEXT, Lying("abc"), "reading its text raised RuntimeError: never"),
    "a dictionary": (MERGES, {("a", "b"): 0}, "returned a dict, want a list of pairs of str"),
    "joined merges": (MERGES, ["ab"], "merge 0 is a str, want a pair of str"),
    "merges of three": (MERGES, [("a", "b"), ("a", "b", "c")], "merge 1 is a tuple, want a pair of str"),
    "merges of ids": (MERGES, [(1, 2)], "merge 0 is a tuple, want a pair of str"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_something_else_is_said_clearly(name):
    component, returned, message = REFUSED[name]
    with pytest.raises(Failure) as found:
        put(component, lambda given: returned)
    assert found.value.message == message


class Chameleon(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __index__(self):
        return 7


def test_a_number_that_equals_everything_is_one_number():
    reply = put("tokenizer", lambda text: [Chameleon(3)])
    assert text_codec.ids(reply.out) == [3]


@pytest.mark.parametrize(
    "change",
    [lambda x: x.reverse(), lambda x: x.append(x[0]), lambda x: x.clear(), lambda x: x.__setitem__(0, None)],
)
@pytest.mark.parametrize("component", [TEXT, MERGES])
def test_a_changed_list_is_noticed_and_only_a_copy(component, change):
    def forward(given):
        change(given)
        return "" if component == TEXT else []

    before = {name: list(x) for name, x in GIVEN[component].items()}
    assert put(component, forward).changed == tuple(before)
    assert GIVEN[component] == before
