"""What a sentence about a mask says of its values, in many phrasings: a reader that is not sure says nothing."""

import pytest

from attnconf.conformance.inference.words.mask_words import DROPS, KEEPS, votes

KEEPING = (
    "True keeps",
    "bool (B, 1, L, S), True = may attend",
    "(B, S), 1 for real tokens, 0 for padding",
    "1.0 = visible, 0.0 = hidden",
    "1 = token, 0 = pad",
    "nonzero is valid",
    "Non-zero (or True) where the query MAY look at the key. At least one per query.",
    "0 where we are NOT allowed to look",
    "False where the key is padding",
    "0/1 (0 = masked)",
    "True where not masked",
    "True where a key isn't padding",
    "1 at unpadded positions",
    "positions with 0 are ignored",
    "0 marks invalid keys",
    "hidden where False, of any dtype",
    "zeros where a key is dropped",
    "float, 1 = se puede atender, 0 = no se puede",
    "1 = posición visible, 0 = posición tapada (relleno o futuro)",
    "vaut 1 là où la clé est visible et 0 ailleurs",
    "1 = jeton réel, 0 = remplissage",
    "True bedeutet sichtbar, False verdeckt",
    "True 表示可见",
)
DROPPING = (
    "True hides",
    "byte or bool tensor `batch x src_len`, non-zero where the key is padding.",
    "nonzero at padding",
    "not zero where the position is hidden",
    "values != 0 are ignored",
    "True (or 1) marks padding",
    "1.0 for padding",
    "1.0 where masked",
    "boolean, True where a key must not be seen",
    "1 for tokens that are ignored",
    "True for invalid keys",
    "1 means the query cannot look at the key",
    "False for tokens that may be attended to",
    "zero = keep, one = drop",
    "B x 1 x padded length, 1 means padding",
    "1 = no visible",
    "1 = TAPADA, 0 = visible",
    "True = verdeckt",
    "True wo nichts gesehen werden darf, also True = gesperrt",
    "True = masqué",
    "1 表示填充",
)
SILENT = (
    "a mask",
    "B x 1 x padded length",
    "one row for each padded sample",
    "True everywhere except at padding",
    "True up to the padding",
    "-inf hides, 0 keeps",
    "added to the scores: 0 where visible",
    "unlike torch, where True hides",
    "the opposite of key_mask, in which 1 is padding",
    "True where padding is not",
    "made from the ids, of which id 0 is padding",
    "0/1 mask of the padding",
    "True or False for each padded token",
    "not None where keys are hidden",
    "the hidden part of step 1",
    "True where what is masked can be seen",
    "shape (2, 1), padded",
)  # fmt: skip


@pytest.mark.parametrize("words", KEEPING)
def test_words_say_that_one_keeps(words):
    assert set(votes(words)) == {KEEPS}


@pytest.mark.parametrize("words", DROPPING)
def test_words_say_that_one_drops(words):
    assert set(votes(words)) == {DROPS}


@pytest.mark.parametrize("words", SILENT)
def test_words_that_tie_no_value_to_one_state_say_nothing(words):
    assert votes(words) == []
