"""Ways to get tokenizers wrong: symbols and merges."""

from attnconf.conformance.chapters.tokenizer.mutants.shared import END, first_place
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer

mark_forgotten = Mutant(
    "TOK-mark-forgotten",
    story="the end of a word is not marked",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint='the last symbol of a word is its last character + "</w>"',
    replace={tokenizer.symbols_of: lambda word: list(word)},
)

mark_separate = Mutant(
    "TOK-mark-separate",
    story="the mark of a word's end is a symbol of its own, and nobody says so",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint='declare word-end = "separate", or attach it to the last character',
    replace={tokenizer.symbols_of: lambda word: [*word, END]},
    source="algorithm 1 of the paper",
)

mark_at_beginning = Mutant(
    "TOK-mark-at-beginning",
    story="the first symbol of a word carries the mark instead of the last",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint="mark the end",
    replace={tokenizer.symbols_of: lambda word: [word[0] + END, *word[1:]]},
)

mark_replaces_letter = Mutant(
    "TOK-mark-replaces-letter",
    story="the mark stands in place of the last character",
    breaks={"TOK-SYMBOL-1", "TOK-TRAIN-4"},
    hint="word[-1] + mark: the character stays",
    replace={tokenizer.symbols_of: lambda word: [*word[:-1], END]},
)


def longest_from_the_left(pieces, ranks):
    tokens = {one + other for one, other in ranks}
    found = []
    while pieces:
        n = next(n for n in range(len(pieces), 0, -1) if n == 1 or "".join(pieces[:n]) in tokens)
        found.append("".join(pieces[:n]))
        pieces = pieces[n:]
    return found


longest_match = Mutant(
    "TOK-longest-match",
    story="a word is taken apart into the longest tokens from the left",
    breaks={"TOK-MERGE-1"},
    hint="that is WordPiece; byte-pair encoding makes merges by their rank",
    replace={tokenizer.merge_all: longest_from_the_left},
    source="WordPiece",
)

first_from_left = Mutant(
    "TOK-first-from-left",
    story="the first pair from the left that is a merge is merged",
    breaks={"TOK-MERGE-1"},
    hint="min over all pairs by their rank",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: next(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), None
        ),
    },
)

last_learnt = Mutant(
    "TOK-last-learnt",
    story="the merge that was learnt last is made first",
    breaks={"TOK-MERGE-1"},
    hint="min, not max",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: max(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), key=lambda pair: ranks[pair], default=None
        ),
    },
)

most_frequent_first = Mutant(
    "TOK-most-frequent-first",
    story="of the merges that apply the pair that is most frequent in the word is made first, as in learning",
    breaks={"TOK-MERGE-1"},
    hint="min over all pairs by their rank: counts are for learning",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: max(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), key=tokenizer.neighbours(pieces).count,
            default=None,
        ),
    },
)  # fmt: skip

ranks_by_length = Mutant(
    "TOK-ranks-by-length",
    story="the merge that makes the longest piece is made first",
    breaks={"TOK-MERGE-1"},
    hint="the order is that of learning",
    replace={
        tokenizer.first_learnt: lambda pieces, ranks: max(
            (pair for pair in tokenizer.neighbours(pieces) if pair in ranks), key=lambda pair: len("".join(pair)),
            default=None,
        ),
    },
)  # fmt: skip

ranks_by_name = Mutant(
    "TOK-ranks-by-name",
    story="merges are ranked in the order of their characters",
    breaks={"TOK-MERGE-1"},
    hint="the order is that of learning; do not sort them, nor keep them in a set",
    replace={tokenizer.rank: lambda merges: {pair: r for r, pair in enumerate(sorted(merges))}},
)


def merge_once(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    return pieces if pair is None else tokenizer.merge(pieces, pair)


one_merge = Mutant(
    "TOK-one-merge",
    story="one merge is made, and that is all",
    breaks={"TOK-MERGE-2"},
    hint="repeat until no pair is a merge",
    replace={tokenizer.merge_all: merge_once},
)


def merge_symbols(pieces, ranks):
    symbols = set(pieces)
    return tokenizer.merge_all(pieces, {pair: r for pair, r in ranks.items() if symbols.issuperset(pair)})


symbols_only = Mutant(
    "TOK-symbols-only",
    story="only pairs of symbols are merged, not what merges made",
    breaks={"TOK-MERGE-2"},
    hint="take the pairs anew after every merge",
    replace={tokenizer.merge_all: merge_symbols},
)


def merge_first_places(pieces, ranks):
    for pair in sorted(ranks, key=ranks.__getitem__):
        pieces = first_place(pieces, pair)
    return pieces


first_place_only = Mutant(
    "TOK-first-place-only",
    story="a merge is made in the first place of a word only",
    breaks={"TOK-MERGE-3"},
    hint="go on behind the place that was merged",
    replace={tokenizer.merge_all: merge_first_places},
)


def merge_from_the_right(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    while pair is not None:
        backwards = tokenizer.merge(pieces[::-1], pair[::-1])
        pieces = ["".join(pair) if p == "".join(pair[::-1]) else p for p in backwards[::-1]]
        pair = tokenizer.first_learnt(pieces, ranks)
    return pieces


from_the_right = Mutant(
    "TOK-from-the-right",
    story="of places that overlap the last is merged",
    breaks={"TOK-MERGE-3"},
    hint="from left to right: a a a becomes aa a",
    replace={tokenizer.merge_all: merge_from_the_right},
)


def merge_overlapping(pieces, ranks):
    pair = tokenizer.first_learnt(pieces, ranks)
    while pair is not None:
        pairs = tokenizer.neighbours(pieces)
        joined = [i for i, p in enumerate(pairs) if p == pair]
        kept = [i for i in range(len(pieces)) if i in joined or i - 1 not in joined]
        pieces = ["".join(pair) if i in joined else pieces[i] for i in kept]
        pair = tokenizer.first_learnt(pieces, ranks)
    return pieces


overlapping_twice = Mutant(
    "TOK-overlapping-twice",
    story="a piece is merged with both of its neighbours: a a a becomes aa aa",
    breaks={"TOK-MERGE-3"},
    hint="go on two pieces further after a merge",
    replace={tokenizer.merge_all: merge_overlapping},
)


def merge_as_text(pieces, pair):
    return " ".join(pieces).replace(" ".join(pair), "".join(pair)).split(" ")


merged_as_text = Mutant(
    "TOK-merged-as-text",
    story="what is merged may be the end of one piece and the beginning of another: xa b holds a b, too",
    breaks={"TOK-MERGE-3", "TOK-TRAIN-5"},
    hint="compare whole pieces; in a regular expression, with white space or nothing on either side",
    replace={tokenizer.merge: merge_as_text},
    source="str.replace on pieces with spaces between them",
)


def give_up(word):
    return ["<too long>"] if len(word) > 100 else tokenizer.symbols_of(word)


long_words_unknown = Mutant(
    "TOK-long-words-unknown",
    story="a word of more than 100 letters is unknown",
    breaks={"TOK-LONG-1"},
    hint="no limit",
    replace={tokenizer.symbols_of: give_up},
    source="max_input_chars_per_word of WordPiece",
    silent_on={"bpe_trainer": "no word of a corpus is that long"},
)
