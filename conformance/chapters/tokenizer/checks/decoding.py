"""Checks of the chapter spec/tokenizer.md: ids to text."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import SPECIALS, Evidence, refuses
from attnconf.conformance.chapters.tokenizer.stimuli import (
    TOY,
    UNKNOWN,
    byte_pairs,
    covering,
    drawn,
    kinds,
    marked,
    oracle,
    places,
    say,
    shown,
    toy,
    whole,
    written,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.tokenizer import END


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
        yield decodes(subject, config, tokens.split(), want if marked(subject) else want.replace(" ", ""))


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
    if "byte-pair" not in kinds(subject):
        return
    as_bytes = subject.choice("symbols") == "bytes"
    for other in ("\u00e9", "low \U0001f469\u200d\U0001f680 er"):
        symbols = written(other, as_bytes)
        letters = dict.fromkeys((symbols if as_bytes else symbols.replace(" ", "")) + "lo\u00c3\u00a9")
        config = byte_pairs(subject, [("\u00c3", "\u00a9"), ("l", "o")], "".join(letters))
        ids = oracle(config, symbols)
        yield reads(f"text of {shown(config, ids)}", say(subject, config, ids), other)
