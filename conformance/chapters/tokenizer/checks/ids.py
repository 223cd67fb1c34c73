"""Checks of the chapter spec/tokenizer.md: words and ids."""

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import Evidence
from attnconf.conformance.chapters.tokenizer.stimuli import (
    ask,
    byte_pairs,
    covering,
    drawn,
    gives,
    kinds,
    marked,
    places,
    same,
    shown,
    toy,
    whole,
    written,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.tokenizer import END


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
        for text in (
            ("",) if kind == "character" or (kind == "byte-pair" and not marked(subject)) else ("", " ", " \t\n ")
        ):
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
    as_bytes = subject.choice("symbols") == "bytes"
    letters = "".join(dict.fromkeys(written("".join(UNUSUAL), as_bytes)))
    for kind in kinds(subject):
        config = byte_pairs(subject, [], letters) if kind == "byte-pair" else whole(kind, UNUSUAL)
        config = whole(kind, [*letters]) if kind == "character" else config
        for text in UNUSUAL:
            symbols = written(text, as_bytes)
            pieces = {"word": [text], "character": [*text], "byte-pair": [*symbols[:-1], symbols[-1] + END]}[kind]
            yield same(config, text, ask(subject, config, text), places(config, pieces))
