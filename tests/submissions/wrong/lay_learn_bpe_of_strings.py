"""Learn which pairs to merge. A word is a string, its pieces apart by blanks."""

from collections import Counter

STOP = "</w>"


def tally(vocabulary):
    pairs = Counter()
    for word, times in vocabulary.items():
        pieces = word.split(" ")
        for left, right in zip(pieces, pieces[1:]):
            pairs[left, right] += times
    return pairs


def learn_merges(words, num_merges):
    vocabulary = {" ".join(word[:-1]) + " " * (len(word) > 1) + word[-1] + STOP: n for word, n in Counter(words).items()}
    merges = []
    while len(merges) < num_merges and (pairs := tally(vocabulary)):
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        vocabulary = {word.replace(" ".join(best), "".join(best)): n for word, n in vocabulary.items()}
    return merges
