"""Learning a code of pairs, after the paper's algorithm; equal counts: the smaller pair."""


def join(symbols, left, right):
    text, marks = [], iter(range(len(symbols)))
    for i in marks:
        if symbols[i : i + 2] == (left, right):
            text.append(left + right)
            next(marks)
        else:
            text.append(symbols[i])
    return tuple(text)


def learn_merges(corpus, n_merges):
    """corpus: list of words. Returns a list of (left, right)."""
    table = {}
    for word in corpus:
        if word:
            key = (*word, "</w>")
            table[key] = table.get(key, 0) + 1
    learned = []
    while len(learned) < n_merges:
        counts = {}
        for symbols, n in table.items():
            for i in range(len(symbols) - 1):
                counts[symbols[i : i + 2]] = counts.get(symbols[i : i + 2], 0) + n
        if not counts:
            break
        pair = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        learned.append(pair)
        joined = {}
        for symbols, n in table.items():
            new = join(symbols, *pair)
            joined[new] = joined.get(new, 0) + n
        table = joined
    return learned
