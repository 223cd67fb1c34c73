class UncasedWords:
    """Numbers of words, whichever letters they are written in: both the list and the text are lowercased."""

    def __init__(self, words, unknown="<unk>"):
        self.known = [word.lower() for word in words]
        self.at = {word: i for i, word in enumerate(self.known)}
        self.unknown = self.at[unknown.lower()]

    def __call__(self, text):
        return [self.at.get(word, self.unknown) for word in text.lower().split()]

    def decode(self, numbers):
        return " ".join(self.known[n] for n in numbers)
