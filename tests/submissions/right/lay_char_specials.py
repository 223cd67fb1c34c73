# letters to numbers, with a few tokens of our own in front of them


class Letters:
    def __init__(self, texts=None):
        self.special_tokens = ["<pad>", "<unk>"]
        self.id_to_char = list(self.special_tokens)
        self.char_to_id = {c: i for i, c in enumerate(self.id_to_char)}
        for c in sorted(set("".join(texts or []))):
            self.char_to_id[c] = len(self.id_to_char)
            self.id_to_char.append(c)

    def encode(self, text):
        return [self.char_to_id.get(c, self.char_to_id["<unk>"]) for c in text]

    def decode(self, ids, keep_special=False):
        first = 0 if keep_special else len(self.special_tokens)
        return "".join(self.id_to_char[i] for i in ids if i >= first)
