def build_index(vocab):
    index = {}
    for number, word in enumerate(vocab):
        index[word] = number
    return index


class WhitespaceTokenizer:
    def __init__(self, vocab, unk_token="[UNK]"):
        self.vocab = vocab
        self.index = build_index(vocab)
        self.unk_id = self.index[unk_token]

    def tokenize(self, text):
        return text.split(" ")

    def encode(self, text):
        return [self.index.get(token, self.unk_id) for token in self.tokenize(text)]
