"""Byte pair encoding, exercise 3: the merges are a list, and encoding goes through it once."""


class BytePairs:
    def __init__(self, num_merges):
        self.num_merges = num_merges
        self.history = []

    @staticmethod
    def _replace(ids, pair, new):
        i, out = 0, []
        while i < len(ids):
            hit = i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair
            out.append(new if hit else ids[i])
            i += 2 if hit else 1
        return out

    def fit(self, corpus):
        ids = list(corpus.encode())
        self.history = []
        while len(self.history) < self.num_merges and len(ids) > 1:
            pairs = list(zip(ids, ids[1:]))
            best = max(sorted(set(pairs)), key=pairs.count)
            ids = self._replace(ids, best, 256 + len(self.history))
            self.history.append(best)

    def encode(self, text):
        ids = list(text.encode())
        for step, pair in enumerate(self.history):
            ids = self._replace(ids, pair, 256 + step)
        return ids

    def decode(self, ids):
        ids = list(ids)
        for step in reversed(range(len(self.history))):
            ids = [part for i in ids for part in (self.history[step] if i == 256 + step else (i,))]
        return bytes(ids).decode(errors="replace")
