#!/usr/bin/env python3
"""Learn BPE merges, like in the lecture (low lower newest widest)."""
import collections


def get_stats(vocab):
    pairs = collections.defaultdict(int)
    for symbols, freq in vocab.items():
        for a, b in zip(symbols, symbols[1:]):
            pairs[a, b] += freq
    return pairs


def merge_vocab(pair, vocab):
    merged = collections.Counter()
    for symbols, freq in vocab.items():
        out, i = [], 0
        while i < len(symbols):
            if symbols[i:i + 2] == pair:
                out.append(symbols[i] + symbols[i + 1])
                i += 2
            else:
                out.append(symbols[i])
                i += 1
        merged[tuple(out)] += freq
    return merged


def learn_bpe(words, num_merges):
    vocab = collections.Counter(tuple(w[:-1]) + (w[-1] + "</w>",) for w in words)
    merges = []
    for _ in range(num_merges):
        pairs = get_stats(vocab)
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        vocab = merge_vocab(best, vocab)
        merges.append(best)
    return merges


if __name__ == "__main__":
    corpus = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
    for m in learn_bpe(corpus, 10):
        print(m)
