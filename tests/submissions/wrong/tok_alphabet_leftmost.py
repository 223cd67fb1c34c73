"""Subword units. The vocabulary is made of the alphabet and of what the merges make."""

MARK = "</w>"


class SubwordUnits:
    def __init__(self, merges, alphabet, unk_token="<unk>"):
        self.known = {(left, right) for left, right in merges}
        self.vocab = [unk_token, MARK]
        for piece in list(alphabet) + [left + right for left, right in merges]:
            if piece not in self.vocab:
                self.vocab.append(piece)
        self.id_of = {piece: i for i, piece in enumerate(self.vocab)}

    def pieces(self, word):
        parts = list(word) + [MARK]
        at = 0
        while at + 1 < len(parts):
            if (parts[at], parts[at + 1]) in self.known:
                parts[at : at + 2] = [parts[at] + parts[at + 1]]
                at = 0
            else:
                at += 1
        return parts

    def encode(self, text):
        return [self.id_of.get(p, 0) for w in text.split() for p in self.pieces(w)]

    def decode(self, ids):
        return "".join(self.vocab[i] for i in ids).replace(MARK, " ").rstrip(" ")
