"""Checks of the chapter spec/tokenizer.md.

Texts that show one rule each are written here; the umbrellas draw theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.stimuli import (
    SHOWN,
    TOY,
    UNKNOWN,
    ask,
    byte_pairs,
    corpus,
    covering,
    drawn,
    gives,
    kinds,
    learn,
    oracle,
    places,
    same,
    say,
    shown,
    toy,
    whole,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.tokenizer import END, Pair, merge, neighbours, train

Evidence = Iterator[Measure]


# -- words and ids


@requirement("TOK-LOOKUP-1", stimuli.USUAL, stimuli.EDGES)
def a_token_becomes_its_place(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "character"):
        tokens = drawn(case, "known", case.words) if kind == "word" else list("lowerains"[: case.words])
        config = whole(kind, list(dict.fromkeys(tokens)))
        for token in dict.fromkeys(tokens):
            yield same(config, token, ask(subject, config, token), places(config, [token]))


@requirement("TOK-WORD-1", stimuli.USUAL, stimuli.EDGES)
def a_text_gives_the_ids_of_its_words(subject: Subject, case: Case) -> Evidence:
    words = drawn(case, "text", case.words)
    for kind in kinds(subject, "word", "byte-pair"):
        config = covering(subject, kind, case)
        alone = {word: ask(subject, config, word) for word in dict.fromkeys(words)}
        text = " ".join([*words, words[0]])
        want = [i for word in [*words, words[0]] for i in alone[word]]
        yield same(config, text, ask(subject, config, text), want, "as its words alone give")


@requirement("TOK-CHAR-1", stimuli.WRITTEN)
def every_character_is_a_token(subject: Subject, case: Case) -> Evidence:
    config = whole("character", [*"wol", "\n", *"re", " ", "."])
    for text in ("low", "low er.", "  low\n\n er ", "wow"):
        yield same(config, text, ask(subject, config, text), places(config, text))


@requirement("TOK-SPLIT-1", stimuli.WRITTEN)
def words_are_split_at_any_white_space(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "byte-pair"):
        config = toy(subject, kind)
        want = ask(subject, config, "low er lower")
        for text in (
            "low  er   lower", " low er lower ", "low\ter\nlower\n", "\r\nlow er\r\nlower", "low\u00a0er\u3000lower",
        ):  # fmt: skip
            yield same(config, text, ask(subject, config, text), want, "as 'low er lower' gives")


@requirement("TOK-SPLIT-2", stimuli.WRITTEN)
def words_are_split_nowhere_else(subject: Subject, case: Case) -> Evidence:
    if "word" in kinds(subject):
        for word in ("low,er", "low.", "low-er", "er's", "low\u200ber", "low1"):
            yield gives(subject, whole("word", ["low", word, *",.-'1", "er", "s", "'s"]), word, word)
    if "byte-pair" in kinds(subject):
        config = byte_pairs(subject, [], "lower,-'s1")
        for word, tokens in (("low,er", "l o w , e r</w>"), ("low-1", "l o w - 1</w>"), ("er's", "e r ' s</w>")):
            yield gives(subject, config, word, tokens)


@requirement("TOK-EMPTY-1", stimuli.WRITTEN)
def nothing_gives_no_ids(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind)
        for text in ("",) if kind == "character" else ("", " ", " \t\n "):
            yield same(config, text, ask(subject, config, text), [])


@requirement("TOK-ASIS-1", stimuli.WRITTEN)
def capital_and_small_letters_differ(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        letters = "lLoOwW"
        tokens = ["Low", *letters, "low", "LOW"]
        config = byte_pairs(subject, [], letters) if kind == "byte-pair" else whole(kind, tokens)
        for one, other in (("low", "Low"), ("LOW", "Low")):
            got = ask(subject, config, one)
            apart = got != ask(subject, config, other)
            yield holds(apart, f"ids of {one!r} and of {other!r} are both {shown(config, got)}", "value")


# composed and decomposed, compatibility characters, an emoji of three code points, letters beyond 16 bits
UNUSUAL = ("\u00e9", "e\u0301", "\ufb01", "fi", "\u2329", "\u3008", "\u2460", "1", "\U0001f469\u200d\U0001f680",
           "\U0001f469", "\U0001d49c", "\u00df", "\uac00", "\u1100\u1161")  # fmt: skip


@requirement("TOK-UNICODE-1", stimuli.WRITTEN)
def characters_are_taken_as_they_are(subject: Subject, case: Case) -> Evidence:
    letters = "".join(dict.fromkeys("".join(UNUSUAL)))
    for kind in kinds(subject):
        config = byte_pairs(subject, [], letters) if kind == "byte-pair" else whole(kind, UNUSUAL)
        config = whole(kind, [*letters]) if kind == "character" else config
        for text in UNUSUAL:
            pieces = {"word": [text], "character": [*text], "byte-pair": [*text[:-1], text[-1] + END]}[kind]
            yield same(config, text, ask(subject, config, text), places(config, pieces))


# -- what is not in the vocabulary


@requirement("TOK-UNKNOWN-1", stimuli.WRITTEN)
def what_is_not_known_becomes_the_unknown_token(subject: Subject, case: Case) -> Evidence:
    if "word" in kinds(subject):
        config = toy(subject, "word")
        for text, tokens in (
            ("lowest", "<unk>"), ("low lowest er", "low <unk> er"), ("lo lowerer new", "<unk> <unk> new"),
        ):  # fmt: skip
            yield gives(subject, config, text, tokens)
    if "character" in kinds(subject):
        config = toy(subject, "character")
        for text, tokens in (("x", "<unk>"), ("lxw", "l <unk> w"), ("xyl", "<unk> <unk> l")):
            yield gives(subject, config, text, tokens)


@requirement("TOK-UNKNOWN-2", stimuli.WRITTEN)
def without_an_unknown_token_an_error_is_raised(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "byte-pair", "word", "character"):
        for text in ("low xyz", "xyz"):
            what = f"{text!r}, in kind {kind!r} without an unknown token"
            yield refuses(what, ask, subject, toy(subject, kind, None), text)


def refuses(what: str, put: Callable[..., Any], *question: Any) -> Measure:
    """Return a measure if a question is answered by an exception."""
    try:
        got = put(*question)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
        raise
    raise Failure("property", f"{what}: no error was raised, but {got!r} returned")


@requirement("TOK-UNKNOWN-3", stimuli.WRITTEN)
def an_unknown_character_is_one_unknown_token(subject: Subject, case: Case) -> Evidence:
    config = toy(subject, "byte-pair")
    texts = [("xlow", "<unk> low</w>"), ("loxyow", "lo <unk> <unk> o w</w>"), ("zer", "<unk> er</w>")]
    if subject.choice("word-end") == "attached":  # else the mark is there, behind what is unknown
        texts += [("x", "<unk>"), ("lox", "lo <unk>")]
    for text, tokens in texts:
        yield gives(subject, config, text, tokens)


# -- byte pairs


@requirement("TOK-SYMBOL-1", stimuli.WRITTEN)
def without_merges_a_word_is_its_characters(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, [], "wol")
    for word, tokens in (("w", "w</w>"), ("low", "l o w</w>"), ("wow", "w o w</w>"), ("lll", "l l l</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-1", stimuli.WRITTEN)
def the_merge_that_was_learnt_first_is_made_first(subject: Subject, case: Case) -> Evidence:
    answers = []  # all of them, to be told from other orders by
    later, longer = (("b", "c"), ("a", "b")), (("c", "d"), ("a", "b"), ("ab", "c"))
    for merges, word, tokens in (
        (later, "abcx", "a bc x</w>"),
        (later[::-1], "abcx", "ab c x</w>"),
        (longer, "abcdx", "ab cd x</w>"),
        ((("a", "b"), ("c", "a")), "cabx", "c ab x</w>"),
        ((("b", "c"), ("a", "bc"), ("a", "b")), "abcx", "abc x</w>"),
        ((("b", "c</w>"), ("a", "b")), "abc", "a bc</w>"),
    ):
        config = byte_pairs(subject, merges, "abcdx")
        answers.append((config, word, ask(subject, config, word), places(config, tokens.split())))
    for answer in answers:
        yield same(*answer)


@requirement("TOK-MERGE-2", stimuli.WRITTEN)
def what_is_merged_is_merged_further(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "b"), ("ab", "c"), ("d", "x</w>"), ("abc", "dx</w>")), "abcdx")
    for word, tokens in (("abcx", "abc x</w>"), ("abcbx", "abc b x</w>"), ("abcdx", "abcdx</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-3", stimuli.WRITTEN)
def a_merge_is_made_everywhere_from_left_to_right(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "a"), ("b", "c")), "abcx")
    for word, tokens in (
        ("bcxbcx", "bc x bc x</w>"), ("bcbcbcx", "bc bc bc x</w>"), ("aaax", "aa a x</w>"), ("aaaaax", "aa aa a x</w>"),
    ):  # fmt: skip
        yield gives(subject, config, word, tokens)


@requirement("TOK-LONG-1", stimuli.LONG)
def a_word_may_be_long(subject: Subject, case: Case) -> Evidence:
    n = max(case.letters, 131)
    config = byte_pairs(subject, (("a", "b"),), "abc")
    yield gives(subject, config, "ab" * (n // 2) + "c", "ab " * (n // 2) + "c</w>")


# -- special tokens

SPECIALS = ("<eos>", "[sep]")


def cut(subject: Subject, config: Any, *parts: str) -> Measure:
    """Return a measure if special tokens are their ids, and what stands between them what it is alone."""
    text = "".join(parts)
    want = [
        i for part in parts for i in (places(config, [part]) if part in config.specials else ask(subject, config, part))
    ]
    return same(config, text, ask(subject, config, text), want)


@requirement("TOK-SPECIAL-1", stimuli.WRITTEN)
def a_special_token_is_one_id(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        yield cut(subject, config, "<eos>")
        yield cut(subject, config, "low ", "<eos>", " er ", "[sep]", " new ", "[sep]")


@requirement("TOK-SPECIAL-2", stimuli.WRITTEN)
def a_special_token_needs_no_white_space(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        yield cut(subject, config, "low", "<eos>")
        yield cut(subject, config, "<eos>", "low")
        yield cut(subject, config, "low", "<eos>", "er low", "[sep]", "<eos>", "<eos>", "new")


@requirement("TOK-SPECIAL-3", stimuli.WRITTEN)
def what_resembles_a_special_token_is_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        for text in ("<EOS>", "<eos", "eos>", "< eos >", "low<e os>", "[SEP]", "sep", "e", "<", "low"):
            got, want = (ask(subject, replace(config, specials=s), text) for s in (SPECIALS, ()))
            yield same(config, text, got, want, "as without special tokens")


@requirement("TOK-SPECIAL-4", stimuli.WRITTEN)
def the_longest_special_token_wins(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        for specials in (("<s>", "<s><s>"), ("<s><s>", "<s>")):
            config = toy(subject, kind, specials=specials)
            yield cut(subject, config, "<s><s>", "low")
            yield cut(subject, config, "low", "<s><s>", "<s>")


# -- all together


@requirement("TOK-ORACLE-1", stimuli.USUAL, stimuli.EDGES)
def ids_are_those_of_the_page(subject: Subject, case: Case) -> Evidence:
    words = drawn(case, "text", case.words)
    text = " ".join([*words, "".join(words), *dict.fromkeys(corpus(case))])
    for kind in kinds(subject):
        config = covering(subject, kind, case)
        want = case.once(f"ids of {config}", partial(oracle, config, text))
        yield same(config, text, ask(subject, config, text), want)


# -- ids to text


def reads(what: str, got: str, want: str) -> Measure:
    """Return a measure if two texts are equal."""
    return holds(got == want, f"{what}: got {got!a}, want {want!a}", "value")


def decodes(subject: Subject, config: Any, tokens: Sequence[str], want: str) -> Measure:
    """Return a measure if the ids of these tokens decode to a text."""
    ids = places(config, tokens)
    return reads(f"text of {shown(config, ids)}", say(subject, config, ids), want)


@requirement("TOK-DECODE-1", stimuli.USUAL, stimuli.EDGES)
def an_id_becomes_its_token(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "character"):
        tokens = drawn(case, "known", case.words) if kind == "word" else [*"lowerains", " ", "\u00e9", "\U0001f469"]
        config = whole(kind, list(dict.fromkeys(tokens)))
        for token in dict.fromkeys(tokens):
            yield decodes(subject, config, [token], token)


@requirement("TOK-DECODE-2", stimuli.WRITTEN)
def words_are_joined_by_a_space(subject: Subject, case: Case) -> Evidence:
    config = whole("word", [*TOY, ",", "."])
    for words in (["low", "er"], ["new", "low", "low", "er"], ["low", ",", "er", "."]):
        yield decodes(subject, config, words, " ".join(words))


@requirement("TOK-DECODE-3", stimuli.WRITTEN)
def characters_are_joined_by_nothing(subject: Subject, case: Case) -> Evidence:
    config = whole("character", [*"wol", "\n", *"re", " "])
    for text in ("low", "low er", " low\n  er ", "\n"):
        yield decodes(subject, config, [*text], text)


@requirement("TOK-DECODE-4", stimuli.WRITTEN)
def pieces_are_joined_as_they_say(subject: Subject, case: Case) -> Evidence:
    config = toy(subject, "byte-pair")
    for tokens, want in (
        ("low</w>", "low"), ("lo w</w>", "low"), ("low</w> er</w>", "low er"), ("l o w er</w> lo w</w>", "lower low"),
        ("lo", "lo"), ("low</w> lo", "low lo"), ("w</w> w</w> w</w>", "w w w"),
    ):  # fmt: skip
        yield decodes(subject, config, tokens.split(), want)


@requirement("TOK-DECODE-5", stimuli.WRITTEN)
def unknown_and_special_tokens_are_their_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        one, other = {"word": ("low", " "), "character": ("w", ""), "byte-pair": ("w</w>", "")}[kind]
        for token in (UNKNOWN, *SPECIALS):
            yield decodes(subject, config, [token], token)
            yield decodes(subject, config, [token, one], token + other + one.removesuffix(END))


@requirement("TOK-DECODE-6", stimuli.WRITTEN)
def an_id_without_a_token_is_refused(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind)
        n = len(config.vocabulary)
        for ids in ([n], [-1], [0, n + 40, 1], [0, -n]):
            yield refuses(f"ids {ids} of {n} tokens", say, subject, config, ids)


@requirement("TOK-DECODE-7", stimuli.WRITTEN)
def no_ids_are_an_empty_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        yield decodes(subject, toy(subject, kind), [], "")


@requirement("TOK-ROUND-1", stimuli.USUAL, stimuli.EDGES)
def ids_of_a_text_decode_to_it(subject: Subject, case: Case) -> Evidence:
    text = " ".join(drawn(case, "text", case.words))
    for kind in kinds(subject):
        config = covering(subject, kind, case)
        ids = case.once(f"ids to decode of {config}", partial(oracle, config, text))
        yield reads(f"text of {shown(config, ids)}", say(subject, config, ids), text)


# -- learning


def symbols(subject: Subject, word: str) -> tuple[str, ...]:
    """Return the symbols of a word, as ``word-end`` is declared."""
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
    for words in (["xabcy", "zabcz", "qabcp", "rabdr", "bc", "ubcu"], ["abxabz"] * 3, corpus(case)):
        there = len(case.once(f"merges of {words}", partial(train, words, case.merges)))
        yield replay(subject, words, learn(subject, words, there), start=1)


@requirement("TOK-TRAIN-6", stimuli.WRITTEN)
def so_many_merges_are_learnt(subject: Subject, case: Case) -> Evidence:
    words = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
    for n in (0, 1, 3, 10):
        got = learn(subject, words, n)
        yield holds(len(got) == n, f"{len(got)} merges were learnt, want {n}: there are pairs enough", "value")
    got = learn(subject, ["abc"], 2)
    yield holds(len(got) == 2, f"merges of 'abc': got {got}, want 2, although each pair occurs once", "value")


@requirement("TOK-TRAIN-7", stimuli.WRITTEN)
def learning_ends_where_no_pair_is_left(subject: Subject, case: Case) -> Evidence:
    for words in ([], ["a"], ["ab", "ab"], ["abc", "d", "ab"]):
        merges = learn(subject, words, 40)
        pieces: list[Sequence[str]] = [symbols(subject, word) for word in words]
        for pair in merges:
            pieces = [merge(word, pair) for word in pieces]
        left = [word for word in pieces if len(word) > 1]
        yield holds(not left, f"merges of {words}, at most 40: got {merges}, which leave {left} in parts", "value")
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
