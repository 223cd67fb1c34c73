class Lexicon:
    """Words by number; unknown ones have a number of their own."""

    def __init__(self, entries, unk="<unk>", pad="<pad>"):
        self.entries = entries
        self.unk_id, self.pad_id = entries[unk], entries[pad]
        self.words = {i: word for word, i in entries.items()}

    def encode(self, text):
        return [self.entries[word] for word in text.split() if word in self.entries]

    def batch(self, texts):
        rows = [self.encode(text) for text in texts]
        longest = max(map(len, rows))
        return [row + [self.pad_id] * (longest - len(row)) for row in rows]

    def decode(self, ids):
        return " ".join(self.words[i] for i in ids if i != self.pad_id)
