"""Words of subtitles as numbers; a sentence is wrapped in marks unless told otherwise."""

import re
from collections import Counter

MARKS = ["<pad>", "<unk>", "<s>", "</s>"]


def pieces(text):
    """Small letters; each sign of punctuation is a piece of its own."""
    return re.findall(r"[^\W]+|[^\w\s]", text.lower())


class SubtitleVocabulary:
    def __init__(self, least=1):
        self.least = least
        self._set(MARKS)

    def _set(self, entries):
        self.entries = list(entries)
        self.number = {entry: i for i, entry in enumerate(self.entries)}

    def fit(self, sentences):
        counts = Counter(piece for sentence in sentences for piece in pieces(sentence))
        kept = [piece for piece, n in counts.items() if n >= self.least]
        self._set(MARKS + sorted(kept, key=lambda piece: (-counts[piece], piece)))
        return self

    def encode(self, sentence, wrap=True):
        ids = [self.number.get(piece, self.number["<unk>"]) for piece in pieces(sentence)]
        return [self.number["<s>"], *ids, self.number["</s>"]] if wrap else ids

    def decode(self, ids, clean=True):
        words = [self.entries[i] for i in ids]
        return " ".join(w for w in words if not (clean and w in ("<pad>", "<s>", "</s>")))
