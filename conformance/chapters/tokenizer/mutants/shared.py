"""Ways to get tokenizers wrong: what the mutants of several sections use."""

from attnconf.reference import tokenizer

END = tokenizer.END


def first_place(pieces, pair):
    pairs = tokenizer.neighbours(pieces)
    at = pairs.index(pair) if pair in pairs else len(pieces)
    return [*pieces[:at], *["".join(pair)] * (at < len(pieces)), *pieces[at + 2 :]]
