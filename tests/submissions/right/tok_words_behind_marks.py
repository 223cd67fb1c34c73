"""Words and their numbers. The first three numbers are marks: filling, the end of a sentence, a word nobody knows."""

FILL, STOP, STRANGE = 0, 1, 2


class Lexicon:
    def __init__(self, sentences):
        seen = {}
        for sentence in sentences:
            for word in sentence.split():
                seen.setdefault(word, len(seen) + 3)
        self.number = {"<fill>": FILL, "<stop>": STOP, "<strange>": STRANGE, **seen}
        self.word = {i: w for w, i in self.number.items()}

    def encode(self, sentence, stop=True):
        return [self.number.get(w, STRANGE) for w in sentence.split()] + [STOP] * stop

    def fill(self, rows):
        """Rows as long as the longest; what follows STOP is FILL."""
        longest = max(map(len, rows))
        return [row + [FILL] * (longest - len(row)) for row in rows]

    def decode(self, row):
        if STOP in row:
            row = row[: row.index(STOP)]
        return " ".join(self.word[i] for i in row if i != FILL)
