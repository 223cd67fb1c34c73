"""Checks of the chapter spec/tokenizer.md: what is not in the vocabulary."""

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import Evidence, refuses
from attnconf.conformance.chapters.tokenizer.stimuli import ask, gives, kinds, toy
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


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


@requirement("TOK-UNKNOWN-3", stimuli.WRITTEN)
def an_unknown_character_is_one_unknown_token(subject: Subject, case: Case) -> Evidence:
    config = toy(subject, "byte-pair")
    texts = [("xlow", "<unk> low</w>"), ("loxyow", "lo <unk> <unk> o w</w>"), ("zer", "<unk> er</w>")]
    if subject.choice("word-end") != "separate":  # else the mark is there, behind what is unknown
        texts += [("x", "<unk>"), ("lox", "lo <unk>")]
    for text, tokens in texts:
        yield gives(subject, config, text, tokens)
