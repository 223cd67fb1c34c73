"""Byte pairs with a table of its own. Rules and letters may be left out: then every letter is unknown."""

import re

CHUNKS = re.compile(r"\s?\S+")


class PairCodec:
    def __init__(self, rules=None, letters=None):
        self.rank = {(left, right): at for at, (left, right) in enumerate(rules or [])}
        pieces = ["<unk>", *(letters or []), *(left + right for left, right in rules or [])]
        self.number = {piece: at for at, piece in enumerate(dict.fromkeys(pieces))}
        self.piece = {at: piece for piece, at in self.number.items()}

    def _pieces(self, chunk):
        parts = list(chunk)
        while len(parts) > 1:
            earliest = next((pair for pair in zip(parts, parts[1:]) if pair in self.rank), None)
            if earliest is None:
                return parts
            at, joined = 0, []
            while at < len(parts):
                if tuple(parts[at : at + 2]) == earliest:
                    joined.append(parts[at] + parts[at + 1])
                    at += 2
                else:
                    joined.append(parts[at])
                    at += 1
            parts = joined
        return parts

    def encode(self, text):
        return [self.number.get(p, 0) for chunk in CHUNKS.findall(text) for p in self._pieces(chunk)]

    def decode(self, numbers):
        return "".join(self.piece[n] for n in numbers)
