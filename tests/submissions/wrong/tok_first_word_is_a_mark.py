"""A word list with three numbers of its own in front, and sentences made of numbers again."""


class WordList:
    pad, end, unknown = range(3)

    def __init__(self, lines):
        words = sorted({w for line in lines for w in line.split()})
        self.words = ["[pad]", "[end]", "[unknown]"] + words
        self.numbers = {w: i for i, w in enumerate(self.words)}

    def encode(self, line, closed=True):
        ids = [self.numbers.get(w, self.unknown) for w in line.split()]
        return ids + [self.end] if closed else ids

    def decode(self, ids):
        """the words, without marks"""
        kept = []
        for i in ids:
            if i == self.end:
                break
            if i > 3:
                kept.append(self.words[i])
        return " ".join(kept)
