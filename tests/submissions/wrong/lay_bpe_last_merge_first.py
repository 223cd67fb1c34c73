"""Learns subwords, and cuts words with them: what was learnt last is the longest, so it comes first."""
from collections import Counter


class BPEModel:
    def __init__(self, n_merges=1000):
        self.n_merges = n_merges
        self.merges = []

    def learn(self, words):
        spelling = Counter(tuple(word) + ("</w>",) for word in words)
        for _ in range(self.n_merges):
            counts = Counter()
            for pieces, times in spelling.items():
                for pair in zip(pieces, pieces[1:]):
                    counts[pair] += times
            if not counts:
                break
            best = max(counts, key=lambda pair: (counts[pair], pair))
            self.merges.append(best)
            joined = Counter()
            for pieces, times in spelling.items():
                joined[self._join(pieces, best)] += times
            spelling = joined
        return self

    @staticmethod
    def _join(pieces, pair):
        out, fresh = [], False  # fresh: what stands last has just been made
        for piece in pieces:
            if out and not fresh and (out[-1], piece) == pair:
                out[-1], fresh = out[-1] + piece, True
            else:
                out.append(piece)
                fresh = False
        return tuple(out)

    def encode(self, text):
        found = []
        for word in text.split():
            pieces = tuple(word) + ("</w>",)
            while pair := next((p for p in reversed(self.merges) if p in zip(pieces, pieces[1:])), None):
                pieces = self._join(pieces, pair)
            found.extend(pieces)
        return found
