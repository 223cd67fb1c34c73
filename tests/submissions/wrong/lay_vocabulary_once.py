"""Words of orders and their numbers. The list of words is kept by an object of its own."""

from collections import Counter

UNKNOWN = "<unk>"


class WordList:
    def __init__(self, counts, rarest=1):
        known = sorted(word for word, n in counts.items() if n >= rarest)
        self.by_number = [UNKNOWN, *known]
        self.by_word = {word: number for number, word in enumerate(self.by_number)}

    def number(self, word):
        return self.by_word.get(word, self.by_word[UNKNOWN])


class RecipeTokenizer:
    """Reads the recipes once, and knows their words from then on."""

    def __init__(self, recipes, rarest=1):
        self.words = WordList(Counter(word for recipe in recipes for word in recipe.split()), rarest)

    def encode(self, recipe):
        return [self.words.number(word) for word in dict.fromkeys(recipe.split())]

    def decode(self, numbers):
        return " ".join(self.words.by_number[number] for number in numbers)
