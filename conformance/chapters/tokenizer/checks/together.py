"""Checks of the chapter spec/tokenizer.md: all together."""

from functools import partial

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import Evidence
from attnconf.conformance.chapters.tokenizer.stimuli import ask, corpus, covering, drawn, kinds, oracle, same
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TOK-ORACLE-1", stimuli.USUAL, stimuli.EDGES)
def ids_are_those_of_the_page(subject: Subject, case: Case) -> Evidence:
    words = drawn(case, "text", case.words)
    text = " ".join([*words, "".join(words), *dict.fromkeys(corpus(case))])
    for kind in kinds(subject):
        config = covering(subject, kind, case)
        want = case.once(f"ids of {config}", partial(oracle, config, text))
        yield same(config, text, ask(subject, config, text), want)
