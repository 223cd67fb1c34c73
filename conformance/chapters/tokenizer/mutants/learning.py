"""Ways to get tokenizers wrong: learning."""

from collections import Counter

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.tokenizer.mutants.shared import first_place
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer

least_frequent = Mutant(
    "TOK-least-frequent",
    story="the rarest pair is merged",
    breaks={"TOK-TRAIN-1"},
    hint="max, not min",
    replace={tokenizer.most_frequent: lambda counts: min(counts, key=lambda pair: (counts[pair], pair))},
)

first_pair = Mutant(
    "TOK-first-pair",
    story="pairs are merged as they come, whatever their counts",
    breaks={"TOK-TRAIN-1"},
    hint="max(counts, key=counts.get), not max(counts)",
    replace={tokenizer.most_frequent: lambda counts: next(iter(counts))},
)

last_pair = Mutant(
    "TOK-last-pair",
    story="the pair that is last in the order of characters is merged, whatever its count",
    breaks={"TOK-TRAIN-1"},
    hint="max(counts, key=counts.get), not max(counts)",
    replace={tokenizer.most_frequent: lambda counts: max(counts)},
)


def count_words_once(corpus):
    return tokenizer.count_pairs(dict.fromkeys(corpus, 1))


words_unweighted = Mutant(
    "TOK-words-unweighted",
    story="a pair is counted once for each different word, however often that word occurs",
    breaks={"TOK-TRAIN-2"},
    hint="add the frequency of the word, not 1",
    replace={tokenizer.count_pairs: count_words_once},
)


def count_in_words(corpus):
    counts = Counter()
    for pieces, n in corpus.items():
        for pair in dict.fromkeys(tokenizer.neighbours(pieces)):
            counts[pair] += n
    return counts


places_once = Mutant(
    "TOK-places-once",
    story="a pair is counted once for each word, in however many places it stands there",
    breaks={"TOK-TRAIN-2"},
    hint="count all places, not the set of them",
    replace={tokenizer.count_pairs: count_in_words},
)


def count_apart(corpus):
    counts = Counter()
    for pieces, n in corpus.items():
        last = None
        for pair in tokenizer.neighbours(pieces):
            overlaps = pair == last and pair[0] == pair[1]
            counts[pair] += 0 if overlaps else n
            last = None if overlaps else pair
    return counts


overlapping_once = Mutant(
    "TOK-overlapping-once",
    story="of places that overlap one is counted",
    breaks={"TOK-TRAIN-8"},
    hint="count every pair of neighbours",
    replace={tokenizer.count_pairs: count_apart},
    source="str.count, which counts so",
)


def train_on_one_string(words, num_merges):
    pieces = [symbol for word in words if word for symbol in tokenizer.symbols_of(word)]
    merges = []
    while len(merges) < num_merges and len(pieces) > 1:
        pair = tokenizer.most_frequent(tokenizer.count_pairs({tuple(pieces): 1}))
        merges.append(pair)
        pieces = tokenizer.merge(pieces, pair)
    return merges


across_ends = Mutant(
    "TOK-across-ends",
    story="the corpus is one string, and pairs reach over the ends of words",
    breaks={"TOK-TRAIN-3"},
    hint="count pairs within each word",
    replace={tokenizer.train: train_on_one_string},
)


def train_at_once(words, num_merges):
    counts = tokenizer.count_pairs({tuple(tokenizer.symbols_of(w)): n for w, n in Counter(words).items() if w})
    return sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)[:num_merges]


counted_once = Mutant(
    "TOK-counted-once",
    story="pairs are counted once, and the most frequent of them are the merges",
    breaks={"TOK-TRAIN-5"},
    hint="merge, then count again",
    replace={tokenizer.train: train_at_once},
)


def train_with(num_merges_of=lambda n: n, least=1, merge=tokenizer.merge):
    """Return train with one thing changed."""

    def changed(words, num_merges):
        corpus = {tuple(tokenizer.symbols_of(word)): n for word, n in Counter(words).items() if word}
        merges = []
        while len(merges) < num_merges_of(num_merges):
            counts = tokenizer.count_pairs(corpus)
            if not counts or max(counts.values()) < least:
                break
            merges.append(tokenizer.most_frequent(counts))
            corpus = {tuple(merge(pieces, merges[-1])): n for pieces, n in corpus.items()}
        return merges

    return changed


learnt_in_first_place = Mutant(
    "TOK-learnt-in-first-place",
    story="while learning, a merge is made in the first place of a word only",
    breaks={"TOK-TRAIN-5"},
    hint="make it in every place before counting again",
    replace={tokenizer.train: train_with(merge=first_place)},
)

one_too_many = Mutant(
    "TOK-one-too-many",
    story="one merge more is learnt than is asked for",
    breaks={"TOK-TRAIN-6"},
    hint="range(num_merges)",
    replace={tokenizer.train: train_with(num_merges_of=lambda n: n + 1)},
)

one_too_few = Mutant(
    "TOK-one-too-few",
    story="one merge less is learnt than is asked for",
    breaks={"TOK-TRAIN-6"},
    hint="range(num_merges)",
    replace={tokenizer.train: train_with(num_merges_of=lambda n: n - 1 if n > 2 else n)},
)

at_least_two = Mutant(
    "TOK-at-least-two",
    story="pairs that occur once are not merged",
    breaks={"TOK-TRAIN-10"},
    hint="go on while there are pairs; a least frequency is an option",
    replace={tokenizer.train: train_with(least=2)},
    source="min_frequency of subword-nmt, 2 by default",
)


def train_to_the_end(words, num_merges):
    corpus = {tuple(tokenizer.symbols_of(word)): n for word, n in Counter(words).items() if word}
    merges = []
    for _ in range(num_merges):
        pair = tokenizer.most_frequent(tokenizer.count_pairs(corpus))
        merges.append(pair)
        corpus = {tuple(tokenizer.merge(pieces, pair)): n for pieces, n in corpus.items()}
    return merges


no_end = Mutant(
    "TOK-no-end",
    story="where no pair is left, learning raises an error",
    breaks={"TOK-TRAIN-7"},
    hint="stop when there are no counts: max of nothing raises",
    replace={tokenizer.train: train_to_the_end},
    raises={"TOK-TRAIN-7"},
    source="the listing of the paper",
)

first_met = Mutant(
    "TOK-first-met",
    story="of pairs that occur equally often the one that was met first is taken",
    breaks={"TOK-TRAIN-9"},
    hint="max(counts, key=lambda pair: (counts[pair], pair))",
    replace={tokenizer.most_frequent: lambda counts: max(counts, key=counts.get)},
    source="the listing of the paper, in any Python that keeps the order of dictionaries",
)


def sorting(config, weights):
    def forward(words):
        words.sort()
        return tokenizer.train(words, config.num_merges)

    return forward


words_sorted_in_place = Mutant(
    "TOK-words-sorted-in-place",
    story="the caller's list of words is sorted",
    breaks={"CALL-IMMUT-1"},
    hint="sorted(words), not words.sort()",
    replace={adapter.bpe_trainer: sorting},
)


def remembering_words(config, weights):
    known = []

    def forward(words):
        known.extend(words)
        return tokenizer.train(known, config.num_merges)

    return forward


corpus_grows = Mutant(
    "TOK-corpus-grows",
    story="merges are learnt from the words of earlier calls, too",
    breaks={"CALL-REPEAT-1"},
    hint="begin with empty counts in every call",
    replace={adapter.bpe_trainer: remembering_words},
)
