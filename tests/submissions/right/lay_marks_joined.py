"""Recipes in numbers and back: commas are words of their own in between, and stand at their words again at the end."""

import re


class RecipeTokenizer:
    def __init__(self):
        self.words, self.numbers = ["<unk>"], {"<unk>": 0}

    @staticmethod
    def split(line):
        return re.sub(r"([.,;:!?])", r" \1 ", line).split()

    def build(self, lines):
        for word in sorted({word for line in lines for word in self.split(line)}):
            self.numbers[word] = len(self.words)
            self.words.append(word)
        return self

    def encode(self, line):
        return [self.numbers.get(word, 0) for word in self.split(line)]

    def decode(self, numbers):
        line = " ".join(self.words[n] for n in numbers)
        for mark in ".,;:!?":
            line = line.replace(f" {mark}", mark)
        return line
