"""Byte pairs within the words of a text: merges of an earlier rank come first."""


class PairTokenizer:
    def __init__(self, merges, vocab, unk="<unk>"):
        self.rank = {tuple(pair): rank for rank, pair in enumerate(merges)}
        self.vocab, self.unknown = dict(vocab), vocab[unk]

    def split(self, word):
        parts = list(word)
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda pair: self.rank.get(pair, len(self.rank)))
            if best not in self.rank:
                break
            joined, at = [], 0
            while at < len(parts):
                both = tuple(parts[at : at + 2]) == best
                joined.append("".join(best) if both else parts[at])
                at += 2 if both else 1
            parts = joined
        return parts

    def encode(self, text):
        return [self.vocab.get(part, self.unknown) for word in text.split() for part in self.split(word)]
