"""Letters as numbers. The numbers of the marks are kept apart, and the first number is left out of what is read back."""


class LetterTokenizer:
    MARKS = ["<pad>", "<s>", "</s>", "<unk>"]

    def __init__(self, text):
        self.symbols = self.MARKS + sorted(set(text))
        self.ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.pad_id, self.sos_id, self.eos_id, self.unk_id = range(len(self.MARKS))

    def encode(self, text):
        return [self.ids.get(letter, self.unk_id) for letter in text]

    def decode(self, ids):
        letters = []
        for i in ids:
            if i == self.eos_id:
                return "".join(letters)
            if i not in (self.pad_id, self.sos_id) and i != ids[0]:
                letters.append(self.symbols[i])
        return "".join(letters)
