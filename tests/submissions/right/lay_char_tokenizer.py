class CharTokenizer:
    """One character, one number."""

    def __init__(self, alphabet, unk=None):
        self.itos = list(alphabet)
        self.stoi = {ch: i for i, ch in enumerate(self.itos)}
        self.unk = unk

    def __len__(self):
        return len(self.itos)

    def encode(self, s):
        if self.unk is None:
            return [self.stoi[c] for c in s]
        return [self.stoi.get(c, self.stoi[self.unk]) for c in s]

    def decode(self, ids):
        out = []
        for i in ids:
            if i < 0 or i >= len(self.itos):
                raise IndexError(f"no character has number {i}")
            out.append(self.itos[i])
        return "".join(out)


if __name__ == "__main__":
    text = "hello world"
    tok = CharTokenizer(sorted(set(text)))
    assert tok.decode(tok.encode(text)) == text
