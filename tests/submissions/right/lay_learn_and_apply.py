"""Two functions: learn_bpe(text, n_merges) gives the merges, apply_bpe(word, merges) cuts a word with them."""
from collections import Counter


def glue(pieces, pair):
    i = 0
    pieces = list(pieces)
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) == pair:
            pieces[i:i + 2] = ["".join(pair)]
        i += 1
    return tuple(pieces)


def learn_bpe(text, n_merges):
    words = Counter(tuple(word) + ("</w>",) for word in text.split())
    merges = []
    for _ in range(n_merges):
        found = Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                found[pair] += times
        if not found:
            break
        best = max(found, key=lambda pair: (found[pair], pair))
        merges.append(best)
        again = Counter()
        for word, times in words.items():
            again[glue(word, best)] += times
        words = again
    return merges


def apply_bpe(word, merges):
    order = {pair: i for i, pair in enumerate(merges)}
    pieces = tuple(word) + ("</w>",)
    while True:
        known = [pair for pair in zip(pieces, pieces[1:]) if pair in order]
        if not known:
            return list(pieces)
        pieces = glue(pieces, min(known, key=order.get))
