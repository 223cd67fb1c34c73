"""Byte pairs of words, learnt by a method of the class, which makes the object."""

from collections import Counter

END = "</w>"


class Pairs:
    def __init__(self, merges):
        self.merges = list(merges)

    @classmethod
    def learn(cls, words, num_merges):
        spelt = {word: [*word, END] for word in set(words) if word}
        often = Counter(words)
        merges = []
        for _ in range(num_merges):
            counts = Counter()
            for word, symbols in spelt.items():
                for pair in zip(symbols, symbols[1:]):
                    counts[pair] += often[word]
            if not counts:
                break
            best = max(counts, key=lambda pair: (counts[pair], pair))
            merges.append(best)
            spelt = {word: join(symbols, best) for word, symbols in spelt.items()}
        return cls(merges)


def join(symbols, pair):
    out = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair and not getattr(out[-1], "joined", False):
            out[-1] = Joined(out[-1] + symbol)
        else:
            out.append(symbol)
    return [str(symbol) for symbol in out]


class Joined(str):
    joined = True
