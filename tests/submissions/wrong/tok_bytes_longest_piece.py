"""Bytes to tokens. Numbers 0 ... 255 are bytes; a merge has the number 256 + its place in the list."""


class Encoder:
    def __init__(self, merges):
        self.pieces = [bytes([i]) for i in range(256)]
        self.pieces += [left + right for left, right in merges]
        self.numbers = {piece: i for i, piece in enumerate(self.pieces)}
        self.longest = max(map(len, self.pieces))

    def encode(self, text):
        raw, out, at = text.encode("utf-8"), [], 0
        while at < len(raw):
            for n in range(self.longest, 0, -1):
                piece = raw[at : at + n]
                if piece in self.numbers:
                    break
            out.append(self.numbers[piece])
            at += len(piece)
        return out

    def decode(self, ids):
        return b"".join(self.pieces[i] for i in ids).decode("utf-8", "replace")
