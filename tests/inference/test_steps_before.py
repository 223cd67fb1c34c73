"""Tokenizers that are given their vocabulary, and make letters small or split punctuation off before they look up."""

import pytest
from judged_submissions import judge

PIECES = """
{words}
class Pieces:
    def __init__(self, vocab, unk="[UNK]"):
        self.vocab, self.unk = vocab, unk

    def pieces_of(self, word):
        found, at = [], 0
        while at < len(word):
            ends = [e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in self.vocab]
            if not ends:
                return [self.unk]
            found.append(("##" if at else "") + word[at : ends[0]])
            at = ends[0]
        return found

    def encode(self, text):
        return [self.vocab[piece] for word in text.lower().split() for piece in self.pieces_of(word)]
"""
MARKS = '''
import re


class Words:
    """{words}"""

    def __init__(self, vocab):
        self.ids = vocab

    def encode(self, text):
        return [self.ids[token] for token in {split}]
'''


@pytest.mark.parametrize(("words", "verdict"), [("", "nonconformant"), ("# An uncased vocabulary.", "conformant")])
def test_small_letters_are_right_where_they_are_said(tmp_path, words, verdict):
    assert judged(tmp_path, PIECES.format(words=words)) == {verdict}


@pytest.mark.parametrize(
    ("words", "split", "verdict"),
    [
        ("Numbers of what is in a text.", r're.findall(r"\w+|[^\w\s]", text)', "conformant"),
        ("Splits a text at white space only.", r're.findall(r"\w+|[^\w\s]", text)', "nonconformant"),
        ("Numbers of what is in a text.", r're.findall(r"\w+", text)', "unrecognised"),  # marks are lost
    ],
)
def test_marks_that_become_tokens_are_split_off_before(tmp_path, words, split, verdict):
    assert judged(tmp_path, MARKS.format(words=words, split=split)) == {verdict}


def judged(folder, source):
    path = folder / "tokens.py"
    path.write_text(source, encoding="utf-8")
    return {verdict for _, verdict in judge(str(path)).verdicts}
