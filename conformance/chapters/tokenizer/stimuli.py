"""Tokenizers and texts for the checks of the chapter spec/tokenizer.md: vocabularies, questions, drawn words.

A vocabulary has its tokens in no order, and the unknown token neither first nor last.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from attnconf.adapters.contract import BpeTrainerConfig, TokenizerConfig
from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.evidence import Failure, Measure
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.tokenizer import END, Pair, encode, look_up, merge_all, number, rank, train

# -- the cases

SHAPE = Shape(
    "merges words alphabet letters corpus",
    "{words} words, {corpus} known or learnt from, of at most {letters} letters out of {alphabet}; {merges} merges",
    numeric=False,
)
_TEXTS = Shape("", "texts written for it", numeric=False)  # the checks say them
_WORD = Shape("letters", "a word of {letters} letters", numeric=False)


USUAL = (
    SHAPE.case("tokenizer-1", merges=17, words=9, alphabet=4, letters=4, corpus=31),
    SHAPE.case("tokenizer-2", merges=23, words=8, alphabet=3, letters=3, corpus=29),
)
EDGES = (
    SHAPE.case("tokenizer-one-word-1", merges=4, words=1, alphabet=3, letters=3, corpus=7),
    SHAPE.case("tokenizer-one-letter-2", merges=3, words=5, alphabet=1, letters=1, corpus=8),
)
WRITTEN = (_TEXTS.case("tokenizer-written-1"),)
# longer than the hundred letters at which some give up
LONG = (_WORD.case("tokenizer-long-1", letters=131),)


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
    Where there are no words, the same merges are made without marks.
    """
    made = [one + other for one, other in merges]
    ends = [c + END for c in letters]
    config = whole("byte-pair", [*ends, *letters, *made], unknown, specials)
    if subject.choice("word-end") == "attached":
        return replace(config, merges=tuple(merges))
    if not marked(subject):
        return unmarked(replace(config, merges=tuple(merges)))
    return replace(config, vocabulary=(*config.vocabulary, END), merges=(*((c, END) for c in letters), *merges))


def marked(subject: Subject) -> bool:
    """Return whether byte pairs are told words, the end of each marked."""
    return subject.choice("word-end") != "none"


def unmarked(config: Any) -> Any:
    """Return a configuration of byte pairs whose tokens bear no mark, white space among them.

    Of merges that make the same piece then, the first is left.
    """
    made: dict[str, Pair] = {}
    for one, other in config.merges:
        pair = (one.removesuffix(END), other.removesuffix(END))
        made.setdefault("".join(pair), pair)
    vocabulary = dict.fromkeys([*(token.removesuffix(END) for token in config.vocabulary), " "])
    return replace(config, vocabulary=tuple(vocabulary), merges=tuple(made.values()))


def written(text: str, as_bytes: bool) -> str:
    """Return the symbols of a text as merges and vocabularies have them: its characters, or one for each byte."""
    return text.encode().decode("latin-1") if as_bytes else text


def toy(subject: Subject, kind: str, unknown: str | None = UNKNOWN, specials: Sequence[str] = ()) -> Any:
    """Return a configuration that covers the words of TOY."""
    letters = "".join(sorted(set("".join(TOY)), reverse=True))
    if kind == "byte-pair":
        return byte_pairs(subject, TOY_MERGES, letters, unknown, specials)
    return whole(kind, TOY if kind == "word" else [*letters, " "], unknown, specials)


def ask(subject: Subject, config: Any, text: str, **options: Any) -> list[int]:
    """Return the ids that the tokenizer gives."""
    return text_codec.ids(subject.ask(config, {"text": text}, (), **options).out)


def say(subject: Subject, config: Any, ids: list[int], **options: Any) -> str:
    """Return the text that the detokenizer gives."""
    return text_codec.text(subject.ask(config, {"ids": ids}, (), **options).out)


def learn(subject: Subject, words: Iterable[str], num_merges: int, **options: Any) -> list[Pair]:
    """Return the merges that the trainer gives; where there are no words, of one text."""
    given = list(words) if marked(subject) else one_text(words)
    reply = subject.ask(BpeTrainerConfig(num_merges), {"words": given}, (), **options)
    return text_codec.merges(reply.out)


def one_text(words: Iterable[str]) -> list[str]:
    """Return words as a corpus of one text; of none if there are no words."""
    return [text for text in [" ".join(words)] if text]


def same(config: Any, text: str, got: list[int], want: list[int], against: str = "") -> Measure:
    """Return the measure if two lists of ids are equal, else raise Failure with both, from where they differ."""
    if got == want:
        return Measure()
    at = next((i for i, (g, w) in enumerate(zip(got, want, strict=False)) if g != w), min(len(got), len(want)))
    start = 0 if max(len(got), len(want)) <= SHOWN else max(0, at - SHOWN // 3)
    from_there = f", from the {start}. on," if start else ""
    message = f"ids of {_short(text)}{from_there}: got {shown(config, got[start:])}, want {shown(config, want[start:])}"
    raise Failure("value", message + (f", {against}" if against else ""))


def _short(text: str) -> str:
    return ascii(text) if len(text) <= 40 else f"{text[:20]!a} … ({len(text)} characters)"


def shown(config: Any, ids: list[int]) -> str:
    tokens = [config.vocabulary[i] if 0 <= i < len(config.vocabulary) else "?" for i in ids[:SHOWN]]
    dots = ", …" if len(ids) > SHOWN else ""
    return f"[{', '.join(map(str, ids[:SHOWN]))}{dots}]" + (f" ({ascii(' '.join(tokens))[1:-1]})" if ids else "")


def places(config: Any, tokens: Iterable[str]) -> list[int]:
    """Return the ids of tokens: their places in the vocabulary, which may have no marks."""
    bare = not any(token.endswith(END) for token in config.vocabulary)
    return [config.vocabulary.index(token.removesuffix(END) if bare else token) for token in tokens]


def gives(subject: Subject, config: Any, text: str, tokens: str) -> Measure:
    """Return a measure if the ids of a text are those of these tokens, which are written with spaces between them."""
    return same(config, text, ask(subject, config, text), places(config, tokens.split()))


# -- drawn words


def drawn(case: Case, what: str, n: int) -> list[str]:
    """Return n words of 1 … F letters, out of the first E of the alphabet."""
    letters = _units(case, what, n * case.letters)
    lengths = [1 + int(u * case.letters) for u in _units(case, f"{what} lengths", n)]
    return [
        "".join(chr(ord("a") + int(u * case.alphabet)) for u in letters[i * case.letters : i * case.letters + length])
        for i, length in enumerate(lengths)
    ]


def _units(case: Case, what: str, n: int) -> list[float]:
    return [min((x / math.sqrt(3) + 1) / 2, 1 - 2**-20) for x in case.draw(what, n).tolist()]


def corpus(case: Case) -> list[str]:
    """Return S drawn words, each up to five times, one after another in turns."""
    words = drawn(case, "corpus", case.corpus)
    times = [1 + int(u * 5) for u in _units(case, "times", case.corpus)]
    return [word for turn in range(5) for word, n in zip(words, times, strict=True) if turn < n]


def covering(subject: Subject, kind: str, case: Case) -> Any:
    """Return a configuration for texts of drawn words, its merges learnt from the drawn corpus."""
    letters = "".join(chr(ord("a") + i) for i in reversed(range(case.alphabet)))
    if kind == "byte-pair":
        return byte_pairs(subject, case.once("merges", lambda: train(corpus(case), case.merges)), letters)
    return whole(kind, [*letters, " "] if kind == "character" else sorted(set(drawn(case, "text", case.words)))[::-1])


def oracle(config: Any, text: str) -> list[int]:
    if config.kind == "byte-pair" and not any(token.endswith(END) for token in config.vocabulary):
        pieces = merge_all(list(text), rank(config.merges))
        return [look_up(piece, number(config.vocabulary), config.unknown) for piece in pieces]
    return encode(text, config.kind, config.vocabulary, config.merges, config.unknown, config.specials)
