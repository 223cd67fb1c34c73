"""Checks of the chapter spec/tokenizer.md: special tokens."""

from dataclasses import replace
from typing import Any

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import SPECIALS, Evidence
from attnconf.conformance.chapters.tokenizer.stimuli import ask, kinds, places, same, toy
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


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
