"""Subwords as strings: rules are learnt of a text, and applied in the order in which they were learnt."""

import collections

WORD_END = "</w>"


def join_all(pieces, left, right):
    done = []
    for piece in pieces:
        if done and done[-1] == left and piece == right:
            done[-1] = left + right
            done.append(None)  # what was joined is not joined again with what follows
        else:
            done.append(piece)
    return [piece for piece in done if piece is not None]


class Segmenter:
    def __init__(self, merges):
        self.merges = list(merges)

    def tokenize(self, text):
        return [piece for word in text.split() for piece in self._pieces(word)]

    def _pieces(self, word):
        pieces = [*word, WORD_END]
        for left, right in self.merges:
            pieces = join_all(pieces, left, right)
        return pieces

    def decode(self, pieces):
        return "".join(pieces).replace(WORD_END, " ").rstrip(" ")


def learn_bpe(text: str, num_merges: int):
    """The most frequent pair each time; of equal ones the smallest."""
    words = collections.Counter(text.split())
    spelt = {word: [*word, WORD_END] for word in words}
    merges = []
    while len(merges) < num_merges:
        counts = collections.Counter()
        for word, pieces in spelt.items():
            for pair in zip(pieces, pieces[1:]):
                counts[pair] += words[word]
        if not counts:
            break
        most = max(counts.values())
        merges.append(min(pair for pair, n in counts.items() if n == most))
        spelt = {word: join_all(pieces, *merges[-1]) for word, pieces in spelt.items()}
    return merges
