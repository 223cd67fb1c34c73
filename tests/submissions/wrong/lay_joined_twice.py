# Joins what stands side by side in titles.
from collections import Counter


def joined(signs, left, right):
    hits = [i for i in range(len(signs) - 1) if signs[i] == left and signs[i + 1] == right]
    result = []
    for i, sign in enumerate(signs):
        if i in hits:
            result.append(left + right)
        elif i - 1 not in hits:
            result.append(sign)
    return result


class PairJoiner:
    def __init__(self):
        self.known_since = {}
        self.signs = []

    def learn(self, lines, size):
        rows = [list(line) for line in lines]
        self.signs = sorted({sign for row in rows for sign in row})
        self.known_since = {}
        while len(self.signs) < size:
            tally = Counter(pair for row in rows for pair in zip(row, row[1:]))
            if not tally:
                break
            (left, right), times = min(tally.items(), key=lambda entry: (-entry[1], entry[0]))
            if times < 2:
                break
            self.known_since[left, right] = len(self.known_since)
            self.signs.append(left + right)
            rows = [joined(row, left, right) for row in rows]
        self.place = {sign: i for i, sign in enumerate(self.signs)}

    def encode(self, line):
        row = list(line)
        for left, right in self.known_since:
            row = joined(row, left, right)
        return [self.place[sign] for sign in row]

    def decode(self, places):
        return "".join(self.signs[p] for p in places)
