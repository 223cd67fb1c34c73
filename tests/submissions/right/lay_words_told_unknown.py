import re


class Words:
    """Words in small letters, and punctuation apart; which token is for unknown words can be said."""

    def __init__(self, lower=True, unk="<unk>"):
        self.lower, self.unk = lower, unk
        self.itos = [unk]
        self.stoi = {unk: 0}

    def split(self, text):
        return re.findall(r"[^\W_]+|[^\w\s]|_", text.lower() if self.lower else text)

    def fit(self, texts):
        found = sorted({word for text in texts for word in self.split(text)})
        self.itos = [self.unk, *found]
        self.stoi = {word: i for i, word in enumerate(self.itos)}
        return self

    def encode(self, text):
        return [self.stoi.get(word, self.stoi[self.unk]) for word in self.split(text)]

    def decode(self, ids):
        return " ".join(self.itos[i] for i in ids)
