"""Checks of the chapter spec/tokenizer.md: learning."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import Evidence
from attnconf.conformance.chapters.tokenizer.stimuli import SHOWN, corpus, learn, marked, one_text
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.tokenizer import END, Pair, merge, neighbours, train


def symbols(subject: Subject, word: str) -> tuple[str, ...]:
    """Return the symbols of a word, or of a text without words, as ``word-end`` is declared."""
    if not marked(subject):
        return tuple(word)
    return (*word[:-1], word[-1] + END) if subject.choice("word-end") == "attached" else (*word, END)


def counted(corpus: Mapping[tuple[str, ...], int]) -> Counter[Pair]:
    """Return how often each pair of neighbours occurs in words, of which each occurs so many times."""
    counts: Counter[Pair] = Counter()
    for word, n in corpus.items():
        for pair in neighbours(word):
            counts[pair] += n
    return counts


def replay(subject: Subject, words: Sequence[str], merges: Sequence[Pair], start: int = 0) -> Measure:
    """Return a measure if every merge from ``start`` on joins a pair that is then most frequent."""
    words = words if marked(subject) else one_text(words)
    pieces = {symbols(subject, word): n for word, n in Counter(words).items()}
    for i, pair in enumerate(merges):
        counts = counted(pieces)
        most = max(counts.values(), default=0)
        if i >= start and (not most or counts[pair] < most):
            best = " or ".join(f"{p} with {most}" for p in sorted(counts) if counts[p] == most) or "no pair is left"
            of = f"{len(words)} words" if len(words) > SHOWN else " ".join(words)
            raise Failure("value", f"merge {i} of {of}: got {pair}, which occurs {counts[pair]} times; want {best}")
        pieces = {tuple(merge(word, pair)): n for word, n in pieces.items()}
    return Measure()


def at_first(subject: Subject, words: Sequence[str]) -> Measure:
    """Return a measure if the first merge is that of a most frequent pair."""
    merges = learn(subject, words, 1)
    if not merges:
        raise Failure("value", f"no merge was learnt from {' '.join(words)}, want 1")
    return replay(subject, words, merges[:1])


@requirement("TOK-TRAIN-1", stimuli.WRITTEN)
def the_first_merge_is_the_most_frequent_pair(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["xlowy", "lolz", "plotu", "blocky"])
    yield at_first(subject, ["abxq", "cabv", "zabzu", "qcdw"])


@requirement("TOK-TRAIN-2", stimuli.WRITTEN)
def a_pair_counts_as_often_as_its_word(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, [*["xcdxu", "zcdwv"] * 2, "pabq", "qabz", "rabw"])
    yield at_first(subject, [*["yabxu", "zabwv"] * 5, "pcdq", "qcdz", "zcdp"])
    yield at_first(subject, ["xabababx", "pcdz", "qcdq"])


@requirement("TOK-TRAIN-3", stimuli.WRITTEN)
def no_pair_reaches_over_the_end_of_a_word(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, [*["x", "y"] * 4, "pqr", "spqt"])


@requirement("TOK-TRAIN-4", stimuli.WRITTEN)
def the_end_of_a_word_is_told_apart(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["ab", "ab"])
    yield at_first(subject, ["ab", "xab", "yab", "abx", "pqz", "zpqx", "qpqp"])
    yield at_first(subject, ["pab", "qab", "rab", "sab", "abcd", "abdc", "xcdx", "xcdy", "ycdx", "zcdz", "ucdu"])


@requirement("TOK-TRAIN-5", stimuli.USUAL, stimuli.EDGES)
def later_merges_are_counted_after_earlier_ones(subject: Subject, case: Case) -> Evidence:
    within = ["xabc", "xabd", "xabe", "xabf", "xabg", *(f"xa{c}" for c in "hijstuvw"), *["kabl", "mabn", "oabr"] * 2]
    for words in (["xabcy", "zabcz", "qabcp", "rabdr", "bc", "ubcu"], ["abxabz"] * 3, within, corpus(case)):
        there = len(case.once(f"merges of {words}", partial(train, words, case.merges)))
        yield replay(subject, words, learn(subject, words, there), start=1)


@requirement("TOK-TRAIN-6", stimuli.WRITTEN)
def so_many_merges_are_learnt(subject: Subject, case: Case) -> Evidence:
    words = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
    for n in (0, 1, 3, 10):
        got = learn(subject, words, n)
        yield holds(len(got) == n, f"{len(got)} merges were learnt, want {n}: there are pairs enough", "value")


@requirement("TOK-TRAIN-7", stimuli.WRITTEN)
def learning_ends_where_no_pair_is_left(subject: Subject, case: Case) -> Evidence:
    for words in ([], ["a"], ["ab", "ab"], ["abc", "d", "ab"]):
        merges = learn(subject, words, 40)
        words = words if marked(subject) else one_text(words)
        pieces: list[Sequence[str]] = [symbols(subject, word) for word in words]
        for pair in merges:
            pieces = [merge(word, pair) for word in pieces]
        left = {pair: n for pair, n in counted(Counter(map(tuple, pieces))).items() if n > 1}
        yield holds(not left, f"merges of {words}, at most 40: got {merges}, which leave {left}", "value")
        n = sum(len(symbols(subject, word)) - 1 for word in dict.fromkeys(words))
        yield holds(len(merges) <= n, f"merges of {words}, at most 40: got {merges}, but only {n} can be made", "value")


@requirement("TOK-TRAIN-8", stimuli.WRITTEN)
def a_pair_counts_in_every_place(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["xaaaaax", "ubcd", "vbcp", "wbcq"])


@requirement("TOK-TRAIN-9", stimuli.WRITTEN)
def the_order_of_the_words_does_not_matter(subject: Subject, case: Case) -> Evidence:
    words = ["xab", "cdy", "zpq", "abz", "ycd", "pqx"]
    want = learn(subject, words, 3)
    for order in (words[::-1], sorted(words), words[3:] + words[:3]):
        got = learn(subject, order, 3)
        yield holds(got == want, f"merges of {order}: got {got}, want {want} as of {words}", "value")


@requirement("TOK-TRAIN-10", stimuli.WRITTEN)
def pairs_that_occur_once_are_merged(subject: Subject, case: Case) -> Evidence:
    got = learn(subject, ["abc"], 2)
    yield holds(len(got) == 2, f"merges of 'abc': got {got}, want 2, although each pair occurs once", "value")
