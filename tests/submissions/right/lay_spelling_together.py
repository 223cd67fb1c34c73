"""Chapter 2, listing 10: what the tokens say is put together first, and read then."""


class Speller:
    def __init__(self):
        self.spellings = [bytes((b,)) for b in range(256)]
        self.order = {}

    def fit(self, text, merges):
        self.__init__()
        row = list(text.encode("utf8"))
        for _ in range(merges):
            seen = {}
            for two in zip(row, row[1:]):
                seen[two] = seen.get(two, 0) + 1
            if not seen:
                break
            two = max(seen, key=lambda t: (seen[t], t))
            self.order[two] = len(self.spellings)
            self.spellings.append(self.spellings[two[0]] + self.spellings[two[1]])
            row = self.joined(row, two)

    def joined(self, row, two):
        out = []
        while row:
            if tuple(row[:2]) == two:
                out.append(self.order[two])
                row = row[2:]
            else:
                out.append(row[0])
                row = row[1:]
        return out

    def encode(self, text):
        row = list(text.encode("utf8"))
        for two in self.order:
            row = self.joined(row, two)
        return row

    def decode(self, tokens):
        said = bytearray()
        for token in tokens:
            said += self.spellings[token]
        return said.decode("utf8", errors="replace")
