"""A vocabulary of the words of some sentences, by how often they are seen."""

from collections import Counter


class WordList:
    def __init__(self, sentences, min_count=1, unknown="<?>"):
        """Words that are seen at least ``min_count`` times get a number, the commonest the smallest."""
        seen = Counter(word for sentence in sentences for word in sentence)
        self.unknown = unknown
        self.words = [unknown, *(word for word, times in seen.most_common() if times >= min_count)]
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def encode(self, words):
        return [self.numbers.get(word, self.numbers[self.unknown]) for word in words]

    def decode(self, numbers):
        return [self.words[number] for number in numbers]
