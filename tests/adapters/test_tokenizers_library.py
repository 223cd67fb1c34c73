"""The adapter of the library tokenizers: against strings, without the suite, and its two differences by hand."""

import pytest
from command_line import in_process
from tokenizers import Tokenizer, decoders, models

from attnconf.adapters import tokenizers_library as adapter
from attnconf.adapters.contract import BpeTrainerConfig, TokenizerConfig

WORDS = TokenizerConfig("word", ("low", "<unk>", "er", "<e>"), unknown="<unk>", specials=("<e>",))
LETTERS = TokenizerConfig("character", (*"low", " ", "<unk>", "<e>"), unknown="<unk>", specials=("<e>",))
PIECES = TokenizerConfig(
    "byte-pair", ("<unk>", "l", "o", "w", "w</w>", "lo", "low</w>", "<e>"), (("l", "o"), ("lo", "w</w>")),
    unknown="<unk>", specials=("<e>",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("config", "text", "ids", "back"),
    [
        (WORDS, " low\ter  low<e>x", [0, 2, 0, 3, 1], "low er low <e> <unk>"),
        (LETTERS, "lo w<e>\u00e9", [0, 1, 3, 2, 5, 4], "lo w<e><unk>"),
        (PIECES, "low lox<e>wow", [6, 5, 0, 7, 3, 2, 4], "low lo<unk><e>wow"),
    ],
    ids=["word", "character", "byte-pair"],
)
def test_ids_and_text(config, text, ids, back):
    assert adapter.tokenizer(config, {})(text) == ids
    assert adapter.detokenizer(config, {})(ids) == back


def test_merges():
    words = ["low"] * 5 + ["lows"] * 4 + ["slow"] * 2
    got = adapter.bpe_trainer(BpeTrainerConfig(2), {})(words)
    assert got == [("l", "o"), ("lo", "w</w>")]


# -- what is different, in the library itself: the adapter has no part in it


def test_byte_pairs_without_an_unknown_token_leave_characters_out():
    made = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    assert made.encode("axb").ids == [0, 1]


def test_words_without_an_unknown_token_are_refused():
    with pytest.raises(Exception, match="Missing \\[UNK\\] token"):
        Tokenizer(models.WordLevel({"a": 0})).encode("x")


def test_ids_that_no_token_has_are_left_out():
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1}))
    made.decoder = decoders.Fuse()
    assert made.decode([0, 7, 1], skip_special_tokens=False) == "ab"
    with pytest.raises(OverflowError):
        made.decode([-1])


def test_nothing_else_is_different(tmp_path):
    done = in_process("run", "--impl", "tokenizers_library", "--strict", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong: nothing but what is known, with its reason, above: TOK-UNKNOWN-2, TOK-DECODE-6\n" in done.stdout
