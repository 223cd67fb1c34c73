"""Pieces of words by rules that were learnt before."""

END = "</w>"


class SubwordSplitter:
    def __init__(self, merges):
        self.merges = {tuple(pair) for pair in merges}

    def encode(self, text):
        out = []
        for word in text.split():
            out.extend(self.split(list(word) + [END]))
        return out

    def split(self, pieces):
        at = 0
        while at + 1 < len(pieces):
            if (pieces[at], pieces[at + 1]) in self.merges:
                pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
                at = max(at - 1, 0)
            else:
                at += 1
        return pieces

    def decode(self, pieces):
        return "".join(pieces).replace(END, " ").strip()
