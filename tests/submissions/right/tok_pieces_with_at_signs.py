"""Subwords for our translator. A piece that goes on ends in @@: "unfriendly" may be un@@ friend@@ ly."""

GOES_ON = "@@"


class Subwords:
    def __init__(self, codes):
        """codes: pairs of symbols, the most frequent first; the last symbol of a word ends in </w>"""
        self.order = {tuple(pair): number for number, pair in enumerate(codes)}

    def _next(self, symbols):
        known = [pair for pair in zip(symbols, symbols[1:]) if pair in self.order]
        return min(known, key=self.order.__getitem__, default=None)

    def _pieces(self, word):
        symbols = [*word[:-1], f"{word[-1]}</w>"]
        while (pair := self._next(symbols)) is not None:
            joined = []
            for symbol in symbols:
                if joined and not joined[-1][1] and (joined[-1][0], symbol) == pair:
                    joined[-1] = (joined[-1][0] + symbol, True)
                else:
                    joined.append((symbol, False))
            symbols = [symbol for symbol, _ in joined]
        return symbols

    def cut(self, sentence):
        found = []
        for word in sentence.split():
            *front, last = self._pieces(word)
            found += [piece + GOES_ON for piece in front]
            found.append(last.removesuffix("</w>"))
        return found

    def glue(self, pieces):
        text = " ".join(pieces) + " "
        return text.replace(f"{GOES_ON} ", "").rstrip(" ")
