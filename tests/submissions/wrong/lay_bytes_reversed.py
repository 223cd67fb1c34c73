"""Bytes to subwords; whatever was found last is the longest, so it is tried first."""


def neighbours(numbers):
    seen = {}
    for left, right in zip(numbers, numbers[1:]):
        seen[left, right] = seen.get((left, right), 0) + 1
    return seen


def fuse(numbers, pair, fresh):
    out, at = [], 0
    while at < len(numbers):
        if tuple(numbers[at:at + 2]) == pair:
            out.append(fresh)
            at += 2
        else:
            out.append(numbers[at])
            at += 1
    return out


class ByteVocabulary:
    def __init__(self):
        self.table = {}
        self.spelling = {n: bytes([n]) for n in range(256)}

    def train(self, text, vocab_size):
        assert vocab_size >= 256, "the bytes alone are 256"
        numbers = list(text.encode("utf-8"))
        for fresh in range(256, vocab_size):
            seen = neighbours(numbers)
            if not seen:
                return
            pair = max(seen, key=lambda p: (seen[p], p))
            numbers = fuse(numbers, pair, fresh)
            self.table[pair] = fresh
            self.spelling[fresh] = self.spelling[pair[0]] + self.spelling[pair[1]]

    def encode(self, text):
        numbers = list(text.encode("utf-8"))
        while known := [p for p in zip(numbers, numbers[1:]) if p in self.table]:
            pair = max(known, key=self.table.get)
            numbers = fuse(numbers, pair, self.table[pair])
        return numbers

    def decode(self, numbers):
        return b"".join(self.spelling[n] for n in numbers).decode("utf-8", errors="replace")
