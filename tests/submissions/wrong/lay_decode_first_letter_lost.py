class Letters:
    """Letters of a corpus as numbers, behind three that are none."""

    def __init__(self, corpus):
        self.marks = ["<pad>", "<start>", "<end>"]
        self.symbols = self.marks + sorted(set(corpus))
        self.numbers = {symbol: i for i, symbol in enumerate(self.symbols)}

    def encode(self, text):
        return [self.numbers[c] for c in text]

    def decode(self, ids, without_marks=True):
        kept = [i for i in ids if not without_marks or i > len(self.marks)]
        return "".join(self.symbols[i] for i in kept)
