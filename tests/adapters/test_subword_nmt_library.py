"""The adapter of subword-nmt: against strings, without the suite, and its difference by hand."""

import io

import pytest
from subword_nmt.learn_bpe import learn_bpe

from attnconf.adapters import subword_nmt_library as adapter
from attnconf.adapters.contract import BpeTrainerConfig, TokenizerConfig

PIECES = TokenizerConfig(
    "byte-pair", ("<unk>", "l", "o", "w", "w</w>", "lo", "low</w>"), (("l", "o"), ("lo", "w</w>")), unknown="<unk>"
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [("low lox", [6, 5, 0]), (" wow\tlow\n", [3, 2, 4, 6]), ("w", [4]), ("", []), ("low@@", [5, 3, 0, 0])],
)
def test_ids(text, ids):
    assert adapter.tokenizer(PIECES, {})(text) == ids


def test_without_merges_a_word_is_its_characters():
    bare = TokenizerConfig("byte-pair", ("a", "b", "b</w>"))
    assert adapter.tokenizer(bare, {})("aab") == [0, 0, 2]
    with pytest.raises(KeyError):
        adapter.tokenizer(bare, {})("ax")


def test_special_tokens_are_refused_in_words():
    with pytest.raises(NotImplementedError, match="special tokens"):
        adapter.tokenizer(TokenizerConfig("byte-pair", ("a", "<e>"), specials=("<e>",)), {})


def test_merges():
    words = ["low"] * 5 + ["lows"] * 4 + ["slow"] * 2
    assert adapter.bpe_trainer(BpeTrainerConfig(2), {})(words) == [("l", "o"), ("lo", "w</w>")]


def test_words_without_a_pair_are_an_error_of_the_library():
    with pytest.raises(ValueError, match="empty"):
        learn_bpe(io.StringIO("a b"), io.StringIO(), 5)
