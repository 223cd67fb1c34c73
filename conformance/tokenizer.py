"""Checks of the chapter spec/tokenizer.md.

Texts that show one rule each are written here, with vocabularies of their own; the umbrellas draw theirs. A vocabulary
has its tokens in no order, and the unknown token neither first nor last.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from attnconf.adapters.contract import BpeTrainerConfig, TokenizerConfig
from attnconf.conformance import written
from attnconf.conformance.cases import Case
from attnconf.conformance.checks import requirement
from attnconf.conformance.door import Reply
from attnconf.conformance.evidence import Failure, Measure, holds
from attnconf.conformance.subject import Subject
from attnconf.reference.tokenizer import END, encode, merge, neighbours, train

Evidence = Iterator[Measure]
Pair = tuple[str, str]
UNKNOWN = "<unk>"
NEEDS = {"word": "word-tokens", "character": "characters", "byte-pair": "byte-pairs"}
TOY = ("low", "er", "lower", "new")  # what the vocabulary of ``toy`` covers
TOY_MERGES = (("l", "o"), ("lo", "w</w>"), ("e", "r</w>"))
SHOWN = 12  # ids of a long text


# -- asking


def kinds(subject: Subject, *among: str) -> list[str]:
    """Return the kinds of tokens that a component has, of those named (default: of all)."""
    return [kind for kind in among or NEEDS if subject.offers(NEEDS[kind])]


def whole(kind: str, tokens: Sequence[str], unknown: str | None = UNKNOWN, specials: Sequence[str] = ()) -> Any:
    """Return the configuration of a vocabulary of words or characters."""
    others = [*specials, *([unknown] if unknown else [])]
    vocabulary = tuple(dict.fromkeys([*tokens[:2], *others, *tokens[2:]]))
    return TokenizerConfig(kind, vocabulary, (), unknown, tuple(specials))


def byte_pairs(
    subject: Subject, merges: Sequence[Pair], letters: str, unknown: str | None = UNKNOWN, specials: Sequence[str] = ()
) -> Any:
    """Return the configuration with these merges, learnt from words of these letters, as ``word-end`` is declared.

    A mark that stands alone is first of all joined to what stands before it: then all pieces are those of the attached.
    """
    made = [one + other for one, other in merges]
    ends = [c + END for c in letters]
    config = whole("byte-pair", [*ends, *letters, *made], unknown, specials)
    if subject.choice("word-end") == "attached":
        return replace(config, merges=tuple(merges))
    return replace(config, vocabulary=(*config.vocabulary, END), merges=(*((c, END) for c in letters), *merges))


def toy(subject: Subject, kind: str, unknown: str | None = UNKNOWN, specials: Sequence[str] = ()) -> Any:
    """Return a configuration that covers the words of TOY."""
    letters = "".join(sorted(set("".join(TOY)), reverse=True))
    if kind == "byte-pair":
        return byte_pairs(subject, TOY_MERGES, letters, unknown, specials)
    return whole(kind, TOY if kind == "word" else [*letters, " "], unknown, specials)


def ask(subject: Subject, config: Any, text: str, **options: Any) -> list[int]:
    """Return the ids that the tokenizer gives."""
    return written.ids(subject.ask(config, {"text": text}, (), **options).out)


def say(subject: Subject, config: Any, ids: list[int], **options: Any) -> str:
    """Return the text that the detokenizer gives."""
    return written.text(subject.ask(config, {"ids": ids}, (), **options).out)


def learn(subject: Subject, words: Iterable[str], num_merges: int, **options: Any) -> list[Pair]:
    """Return the merges that the trainer gives."""
    reply: Reply = subject.ask(BpeTrainerConfig(num_merges), {"words": list(words)}, (), **options)
    return written.merges(reply.out)


def same(config: Any, text: str, got: list[int], want: list[int], against: str = "") -> Measure:
    """Return the measure if two lists of ids are equal, else raise Failure with both, from where they differ."""
    if got == want:
        return Measure()
    at = next((i for i, (g, w) in enumerate(zip(got, want, strict=False)) if g != w), min(len(got), len(want)))
    start = 0 if max(len(got), len(want)) <= SHOWN else max(0, at - SHOWN // 3)
    from_there = f", from the {start}. on," if start else ""
    message = (
        f"ids of {_short(text)}{from_there}: got {_shown(config, got[start:])}, want {_shown(config, want[start:])}"
    )
    raise Failure("value", message + (f", {against}" if against else ""))


def _short(text: str) -> str:
    return ascii(text) if len(text) <= 40 else f"{text[:20]!a} … ({len(text)} characters)"


def _shown(config: Any, ids: list[int]) -> str:
    tokens = [config.vocabulary[i] if 0 <= i < len(config.vocabulary) else "?" for i in ids[:SHOWN]]
    dots = ", …" if len(ids) > SHOWN else ""
    return f"[{', '.join(map(str, ids[:SHOWN]))}{dots}]" + (f" ({ascii(' '.join(tokens))[1:-1]})" if ids else "")


def places(config: Any, tokens: Iterable[str]) -> list[int]:
    """Return the ids of tokens: their places in the vocabulary."""
    return [config.vocabulary.index(token) for token in tokens]


def gives(subject: Subject, config: Any, text: str, tokens: str) -> Measure:
    """Return a measure if the ids of a text are those of these tokens, which are written with spaces between them."""
    return same(config, text, ask(subject, config, text), places(config, tokens.split()))


# -- drawn words


def drawn(case: Case, what: str, n: int) -> list[str]:
    """Return n words of 1 … F letters, out of the first E of the alphabet."""
    letters = _units(case, what, n * case.F)
    lengths = [1 + int(u * case.F) for u in _units(case, f"{what} lengths", n)]
    return [
        "".join(chr(ord("a") + int(u * case.E)) for u in letters[i * case.F : i * case.F + length])
        for i, length in enumerate(lengths)
    ]


def _units(case: Case, what: str, n: int) -> list[float]:
    return [min((x / math.sqrt(3) + 1) / 2, 1 - 2**-20) for x in case.draw(what, n).tolist()]


def corpus(case: Case) -> list[str]:
    """Return S drawn words, each up to five times, one after another in turns."""
    words = drawn(case, "corpus", case.S)
    times = [1 + int(u * 5) for u in _units(case, "times", case.S)]
    return [word for turn in range(5) for word, n in zip(words, times, strict=True) if turn < n]


def covering(subject: Subject, kind: str, case: Case) -> Any:
    """Return a configuration for texts of drawn words, its merges learnt from the drawn corpus."""
    letters = "".join(chr(ord("a") + i) for i in reversed(range(case.E)))
    if kind == "byte-pair":
        return byte_pairs(subject, case.once("merges", lambda: train(corpus(case), case.H)), letters)
    return whole(kind, [*letters, " "] if kind == "character" else sorted(set(drawn(case, "text", case.L)))[::-1])


def oracle(config: Any, text: str) -> list[int]:
    return encode(text, config.kind, config.vocabulary, config.merges, config.unknown, config.specials)


# -- words and ids


@requirement("TOK-LOOKUP-1", "tokenizer", "tokenizer-edges")
def a_token_becomes_its_place(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "character"):
        tokens = drawn(case, "known", case.S) if kind == "word" else list("lowerains"[: case.S])
        config = whole(kind, list(dict.fromkeys(tokens)))
        for token in dict.fromkeys(tokens):
            yield same(config, token, ask(subject, config, token), places(config, [token]))


@requirement("TOK-WORD-1", "tokenizer", "tokenizer-edges")
def a_text_gives_the_ids_of_its_words(subject: Subject, case: Case) -> Evidence:
    words = drawn(case, "text", case.L)
    for kind in kinds(subject, "word", "byte-pair"):
        config = covering(subject, kind, case)
        alone = {word: ask(subject, config, word) for word in dict.fromkeys(words)}
        text = " ".join([*words, words[0]])
        want = [i for word in [*words, words[0]] for i in alone[word]]
        yield same(config, text, ask(subject, config, text), want, "as its words alone give")


@requirement("TOK-CHAR-1", "tokenizer-written")
def every_character_is_a_token(subject: Subject, case: Case) -> Evidence:
    config = whole("character", [*"wol", "\n", *"re", " ", "."])
    for text in ("low", "low er.", "  low\n\n er ", "wow"):
        yield same(config, text, ask(subject, config, text), places(config, text))


@requirement("TOK-SPLIT-1", "tokenizer-written")
def words_are_split_at_any_white_space(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "byte-pair"):
        config = toy(subject, kind)
        want = ask(subject, config, "low er lower")
        for text in (
            "low  er   lower", " low er lower ", "low\ter\nlower\n", "\r\nlow er\r\nlower", "low\u00a0er\u3000lower",
        ):  # fmt: skip
            yield same(config, text, ask(subject, config, text), want, "as 'low er lower' gives")


@requirement("TOK-SPLIT-2", "tokenizer-written")
def words_are_split_nowhere_else(subject: Subject, case: Case) -> Evidence:
    if "word" in kinds(subject):
        for word in ("low,er", "low.", "low-er", "er's", "low\u200ber", "low1"):
            yield gives(subject, whole("word", ["low", word, *",.-'1", "er", "s", "'s"]), word, word)
    if "byte-pair" in kinds(subject):
        merges = (("l", "o"), ("lo", "w</w>"), ("e", "r</w>"))
        config = byte_pairs(subject, merges, "lower,-'s1")
        for word, tokens in (("low,er", "lo w , er</w>"), ("low-1", "lo w - 1</w>"), ("er's", "e r ' s</w>")):
            yield gives(subject, config, word, tokens)


@requirement("TOK-EMPTY-1", "tokenizer-written")
def nothing_gives_no_ids(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind)
        for text in ("",) if kind == "character" else ("", " ", " \t\n "):
            yield same(config, text, ask(subject, config, text), [])


@requirement("TOK-ASIS-1", "tokenizer-written")
def letters_keep_their_case(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "character"):
        tokens = ["low", "Low", "LOW"] if kind == "word" else [*"lLoOwW"]
        config = whole(kind, tokens)
        for token in tokens:
            yield same(config, token, ask(subject, config, token), places(config, [token]))
    if "byte-pair" in kinds(subject):
        config = byte_pairs(subject, [("L", "o"), ("l", "o")], "lLoOwW")
        for word, tokens in (("Low", "Lo w</w>"), ("low", "lo w</w>"), ("LOW", "L O W</w>")):
            yield gives(subject, config, word, tokens)


# composed and decomposed, compatibility characters, an emoji of three code points, letters beyond 16 bits
UNUSUAL = ("\u00e9", "e\u0301", "\ufb01", "fi", "\u212b", "\u00c5", "\u2460", "1", "\U0001f469\u200d\U0001f680",
           "\U0001f469", "\U0001d49c", "\u00df", "ss", "\u0130", "\uac00", "\u1100\u1161")  # fmt: skip


@requirement("TOK-UNICODE-1", "tokenizer-written")
def characters_are_taken_as_they_are(subject: Subject, case: Case) -> Evidence:
    letters = "".join(dict.fromkeys("".join(UNUSUAL)))
    for kind in kinds(subject):
        config = byte_pairs(subject, [], letters) if kind == "byte-pair" else whole(kind, UNUSUAL)
        config = whole(kind, [*letters]) if kind == "character" else config
        for text in UNUSUAL:
            pieces = {"word": [text], "character": [*text], "byte-pair": [*text[:-1], text[-1] + END]}[kind]
            yield same(config, text, ask(subject, config, text), places(config, pieces))


# -- what is not in the vocabulary


@requirement("TOK-UNKNOWN-1", "tokenizer-written")
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


@requirement("TOK-UNKNOWN-2", "tokenizer-written")
def without_an_unknown_token_an_error_is_raised(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        for text in ("low xyz", "xyz"):
            what = f"{text!r}, in kind {kind!r} without an unknown token"
            yield refuses(what, lambda kind=kind, text=text: ask(subject, toy(subject, kind, None), text))


def refuses(what: str, call: Any) -> Measure:
    """Return a measure if the call raises an exception."""
    try:
        got = call()
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
        raise
    raise Failure("property", f"{what}: no error was raised, but {got!r} returned")


@requirement("TOK-UNKNOWN-3", "tokenizer-written")
def an_unknown_character_is_one_unknown_token(subject: Subject, case: Case) -> Evidence:
    config = toy(subject, "byte-pair")
    texts = [("xlow", "<unk> low</w>"), ("loxyow", "lo <unk> <unk> o w</w>"), ("low \u00e9er", "low</w> <unk> er</w>")]
    if subject.choice("word-end") == "attached":  # else the mark is there, behind what is unknown
        texts += [("x", "<unk>"), ("lox low", "lo <unk> low</w>")]
    for text, tokens in texts:
        yield gives(subject, config, text, tokens)


# -- byte pairs


@requirement("TOK-SYMBOL-1", "tokenizer-written")
def without_merges_a_word_is_its_characters(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, [], "wol")
    for word, tokens in (("w", "w</w>"), ("low", "l o w</w>"), ("wow", "w o w</w>"), ("lll", "l l l</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-1", "tokenizer-written")
def the_merge_that_was_learnt_first_is_made_first(subject: Subject, case: Case) -> Evidence:
    later, longer = (("b", "c"), ("a", "b")), (("c", "d"), ("a", "b"), ("ab", "c"))
    for merges, word, tokens in (
        (later, "abcx", "a bc x</w>"), (later[::-1], "abcx", "ab c x</w>"), (longer, "abcdx", "ab cd x</w>"),
    ):  # fmt: skip
        yield gives(subject, byte_pairs(subject, merges, "abcdx"), word, tokens)
    config = byte_pairs(subject, (("b", "c</w>"), ("a", "b")), "abcdx")
    yield gives(subject, config, "abc", "a bc</w>")


@requirement("TOK-MERGE-2", "tokenizer-written")
def what_is_merged_is_merged_further(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "b"), ("ab", "c"), ("d", "x</w>"), ("abc", "dx</w>")), "abcdx")
    for word, tokens in (("abcx", "abc x</w>"), ("abcbx", "abc b x</w>"), ("abcdx", "abcdx</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-3", "tokenizer-written")
def a_merge_is_made_everywhere_from_left_to_right(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "a"), ("b", "c")), "abcx")
    for word, tokens in (
        ("bcxbcx", "bc x bc x</w>"), ("bcbcbcx", "bc bc bc x</w>"), ("aaax", "aa a x</w>"), ("aaaaax", "aa aa a x</w>"),
    ):  # fmt: skip
        yield gives(subject, config, word, tokens)


@requirement("TOK-LONG-1", "tokenizer-long")
def a_word_may_be_long(subject: Subject, case: Case) -> Evidence:
    n = max(case.L, 131)
    config = byte_pairs(subject, (("a", "b"),), "abc")
    yield gives(subject, config, "ab" * (n // 2) + "c", "ab " * (n // 2) + "c</w>")


# -- special tokens

SPECIALS = ("<eos>", "[SEP]")


def cut(subject: Subject, config: Any, *parts: str) -> Measure:
    """Return a measure if special tokens are their ids, and what stands between them what it is alone."""
    text = "".join(parts)
    want = [
        i for part in parts for i in (places(config, [part]) if part in config.specials else ask(subject, config, part))
    ]
    return same(config, text, ask(subject, config, text), want)


@requirement("TOK-SPECIAL-1", "tokenizer-written")
def a_special_token_is_one_id(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        yield cut(subject, config, "<eos>")
        yield cut(subject, config, "low ", "<eos>", " er ", "[SEP]", " new ", "[SEP]")


@requirement("TOK-SPECIAL-2", "tokenizer-written")
def a_special_token_needs_no_white_space(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        yield cut(subject, config, "low", "<eos>")
        yield cut(subject, config, "<eos>", "low")
        yield cut(subject, config, "lo", "<eos>", "w er", "[SEP]", "<eos>", "<eos>", "new")


@requirement("TOK-SPECIAL-3", "tokenizer-written")
def what_resembles_a_special_token_is_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        for text in ("<EOS>", "<eos", "eos>", "< eos >", "low<e os>", "[sep]", "SEP", "e", "<", "low"):
            got, want = (ask(subject, replace(config, specials=s), text) for s in (SPECIALS, ()))
            yield same(config, text, got, want, "as without special tokens")


@requirement("TOK-SPECIAL-4", "tokenizer-written")
def the_longest_special_token_wins(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        for specials in (("<s>", "<s><s>"), ("<s><s>", "<s>")):
            config = toy(subject, kind, specials=specials)
            yield cut(subject, config, "<s><s>", "low")
            yield cut(subject, config, "low", "<s><s>", "<s>")


# -- all together


@requirement("TOK-ORACLE-1", "tokenizer", "tokenizer-edges")
def ids_are_those_of_the_page(subject: Subject, case: Case) -> Evidence:
    text = " ".join([*drawn(case, "text", case.L), *corpus(case)])
    for kind in kinds(subject):
        config = covering(subject, kind, case)
        yield same(config, text, ask(subject, config, text), oracle(config, text))


@requirement("TOK-REPEAT-1", "tokenizer-written")
def a_call_does_not_depend_on_earlier_ones(subject: Subject, case: Case) -> Evidence:
    if subject.component == "bpe_trainer":
        words, earlier = ["low", "lower", "low"], ["new", "newer", "new", "new"]
        got = learn(subject, words, 2, before=({"words": earlier},))
        want = learn(subject, words, 2)
        yield holds(got == want, f"merges of {words} after those of {earlier}: got {got}, want {want}", "value")
        return
    for kind in kinds(subject):
        config = toy(subject, kind)
        if subject.component == "detokenizer":
            for ids, earlier_ids in (([0, 3], [1, 3]), ([0, 3], [0, 3]), ([0], [1, 0, 3])):
                say_again = say(subject, config, ids, before=({"ids": earlier_ids},))
                yield reads(f"text of {ids} after {earlier_ids}", say_again, say(subject, config, ids))
            continue
        for text, earlier_text in (("low er", "er low"), ("low er", "low er"), ("lower", "low"), ("low", "")):
            again = ask(subject, config, text, before=({"text": earlier_text},))
            yield same(config, text, again, ask(subject, config, text), f"as without an earlier {earlier_text!r}")


@requirement("TOK-IMMUT-1", "tokenizer-written")
def lists_are_left_as_they_were(subject: Subject, case: Case) -> Evidence:
    if subject.component == "bpe_trainer":
        reply = subject.ask(BpeTrainerConfig(2), {"words": ["low", "er", "lower", "low"]}, ())
        yield holds(not reply.changed, "modified in place: words")
        return
    for kind in kinds(subject):
        reply = subject.ask(toy(subject, kind), {"ids": [3, 1, 3, 0]}, ())
        yield holds(not reply.changed, "modified in place: ids")


# -- ids to text


def reads(what: str, got: str, want: str) -> Measure:
    """Return a measure if two texts are equal."""
    return holds(got == want, f"{what}: got {got!a}, want {want!a}", "value")


def decodes(subject: Subject, config: Any, tokens: Sequence[str], want: str) -> Measure:
    """Return a measure if the ids of these tokens decode to a text."""
    ids = places(config, tokens)
    return reads(f"text of {_shown(config, ids)}", say(subject, config, ids), want)


@requirement("TOK-DECODE-1", "tokenizer", "tokenizer-edges")
def an_id_becomes_its_token(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject, "word", "character"):
        tokens = drawn(case, "known", case.S) if kind == "word" else [*"lowerains", " ", "\u00e9", "\U0001f469"]
        config = whole(kind, list(dict.fromkeys(tokens)))
        for token in dict.fromkeys(tokens):
            yield decodes(subject, config, [token], token)


@requirement("TOK-DECODE-2", "tokenizer-written")
def words_are_joined_by_a_space(subject: Subject, case: Case) -> Evidence:
    config = whole("word", [*TOY, ",", "."])
    for words in (["low", "er"], ["new", "low", "low", "er"], ["low", ",", "er", "."]):
        yield decodes(subject, config, words, " ".join(words))


@requirement("TOK-DECODE-3", "tokenizer-written")
def characters_are_joined_by_nothing(subject: Subject, case: Case) -> Evidence:
    config = whole("character", [*"wol", "\n", *"re", " "])
    for text in ("low", "low er", " low\n  er ", "\n"):
        yield decodes(subject, config, [*text], text)


@requirement("TOK-DECODE-4", "tokenizer-written")
def pieces_are_joined_as_they_say(subject: Subject, case: Case) -> Evidence:
    config = toy(subject, "byte-pair")
    for tokens, want in (
        ("low</w>", "low"), ("lo w</w>", "low"), ("low</w> er</w>", "low er"), ("l o w er</w> lo w</w>", "lower low"),
        ("lo", "lo"), ("low</w> lo", "low lo"), ("w</w> w</w> w</w>", "w w w"),
    ):  # fmt: skip
        yield decodes(subject, config, tokens.split(), want)


@requirement("TOK-DECODE-5", "tokenizer-written")
def unknown_and_special_tokens_are_their_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind, specials=SPECIALS)
        one, other = {"word": ("low", " "), "character": ("w", ""), "byte-pair": ("w</w>", "")}[kind]
        for token in (UNKNOWN, *SPECIALS):
            yield decodes(subject, config, [token], token)
            yield decodes(subject, config, [token, one], token + other + one.removesuffix(END))


@requirement("TOK-DECODE-6", "tokenizer-written")
def an_id_without_a_token_is_refused(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        config = toy(subject, kind)
        n = len(config.vocabulary)
        for ids in ([n], [-1], [0, n + 40, 1], [0, -n]):
            what = f"ids {ids} of {n} tokens"
            yield refuses(what, lambda config=config, ids=ids: say(subject, config, ids))


@requirement("TOK-DECODE-7", "tokenizer-written")
def no_ids_are_an_empty_text(subject: Subject, case: Case) -> Evidence:
    for kind in kinds(subject):
        yield decodes(subject, toy(subject, kind), [], "")


@requirement("TOK-ROUND-1", "tokenizer", "tokenizer-edges")
def ids_of_a_text_decode_to_it(subject: Subject, case: Case) -> Evidence:
    text = " ".join(drawn(case, "text", case.L))
    for kind in kinds(subject):
        config = covering(subject, kind, case)
        ids = oracle(config, text)
        yield reads(f"text of {_shown(config, ids)}", say(subject, config, ids), text)


# -- learning


def symbols(subject: Subject, word: str) -> tuple[str, ...]:
    """Return the symbols of a word, as ``word-end`` is declared."""
    return (*word[:-1], word[-1] + END) if subject.choice("word-end") == "attached" else (*word, END)


def counted(pieces: Iterable[Sequence[str]]) -> Counter[Pair]:
    """Return how often each pair of neighbours occurs in words, each given as often as it occurs."""
    return Counter(pair for word in pieces for pair in neighbours(word))


def replay(subject: Subject, words: Sequence[str], merges: Sequence[Pair], start: int = 0) -> Measure:
    """Return a measure if every merge from ``start`` on joins a pair that is then most frequent."""
    pieces: list[Sequence[str]] = [symbols(subject, word) for word in words]
    for i, pair in enumerate(merges):
        counts = counted(pieces)
        most = max(counts.values(), default=0)
        if i >= start and (not most or counts[pair] < most):
            best = " or ".join(f"{p} with {most}" for p in sorted(counts) if counts[p] == most) or "no pair is left"
            of = f"{len(words)} words" if len(words) > SHOWN else " ".join(words)
            raise Failure("value", f"merge {i} of {of}: got {pair}, which occurs {counts[pair]} times; want {best}")
        pieces = [merge(word, pair) for word in pieces]
    return Measure()


def at_first(subject: Subject, words: Sequence[str]) -> Measure:
    """Return a measure if the first merge is that of a most frequent pair."""
    merges = learn(subject, words, 1)
    if not merges:
        raise Failure("value", f"no merge was learnt from {' '.join(words)}, want 1")
    return replay(subject, words, merges[:1])


@requirement("TOK-TRAIN-1", "tokenizer-written")
def the_first_merge_is_the_most_frequent_pair(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["xlow", "lol", "plot", "bloc"])
    yield at_first(subject, ["abx", "cab", "zabz", "qcdq"])


@requirement("TOK-TRAIN-2", "tokenizer-written")
def a_pair_counts_as_often_as_its_word(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, [*["xcdx", "zcdw"] * 2, "pabq", "qabz", "rabw"])
    yield at_first(subject, [*["yabx", "zabw"] * 5, "pcdq", "qcdz", "zcdp"])
    yield at_first(subject, ["xabababx", "pcdz", "qcdq"])


@requirement("TOK-TRAIN-3", "tokenizer-written")
def no_pair_reaches_over_the_end_of_a_word(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["x", "y"] * 4 + ["pq", "pqr"])
    words = ["a", "b"] * 3
    merges = learn(subject, words, 3)
    yield replay(subject, words, merges)


@requirement("TOK-TRAIN-4", "tokenizer-written")
def the_end_of_a_word_is_told_apart(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["ab", "xab", "yab", "abx", "pqz", "zpqx", "qpqp"])
    yield at_first(subject, ["pab", "qab", "rab", "sab", "abcd", "abdc", "xcdx", "xcdy", "ycdx", "zcdz", "ucdu"])


@requirement("TOK-TRAIN-5", "tokenizer", "tokenizer-edges")
def later_merges_are_counted_after_earlier_ones(subject: Subject, case: Case) -> Evidence:
    words = ["xabcy", "zabcz", "qabcp", "rabdr", "bc", "ubcu"]
    yield replay(subject, words, learn(subject, words, 4), start=1)
    words = corpus(case)
    yield replay(subject, words, learn(subject, words, case.H), start=1)


@requirement("TOK-TRAIN-6", "tokenizer-written")
def so_many_merges_are_learnt(subject: Subject, case: Case) -> Evidence:
    words = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
    for n in (0, 1, 3, 10):
        got = learn(subject, words, n)
        yield holds(len(got) == n, f"{len(got)} merges were learnt, want {n}: as many pairs are left", "value")


@requirement("TOK-TRAIN-7", "tokenizer-written")
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


@requirement("TOK-TRAIN-8", "tokenizer-written")
def a_pair_counts_in_every_place(subject: Subject, case: Case) -> Evidence:
    yield at_first(subject, ["xaaaaax", "ubcd", "vbcp", "wbcq"])


@requirement("TOK-TRAIN-9", "tokenizer-written")
def the_order_of_the_words_does_not_matter(subject: Subject, case: Case) -> Evidence:
    words = ["xab", "cdy", "zpq", "abz", "ycd", "pqx"]
    want = learn(subject, words, 3)
    for order in (words[::-1], sorted(words), words[3:] + words[:3]):
        got = learn(subject, order, 3)
        yield holds(got == want, f"merges of {order}: got {got}, want {want} as of {words}", "value")
