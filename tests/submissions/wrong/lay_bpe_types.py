"""Byte pair encoding, trained on a list of words."""
from collections import Counter


class BPE:
    def __init__(self, k):
        self.k = k
        self.rules = []

    def train(self, words):
        splits = {w: list(w[:-1]) + [w[-1] + "</w>"] for w in words}
        self.rules = []
        while len(self.rules) < self.k:
            counts = Counter()
            for word in splits:
                s = splits[word]
                for i in range(len(s) - 1):
                    counts[(s[i], s[i + 1])] += 1
            if not counts:
                break
            pair = max(counts, key=lambda p: (counts[p], p))
            for word, s in splits.items():
                i = 0
                while i < len(s) - 1:
                    if (s[i], s[i + 1]) == pair:
                        s[i:i + 2] = [s[i] + s[i + 1]]
                    i += 1
            self.rules.append(pair)
        return self.rules
