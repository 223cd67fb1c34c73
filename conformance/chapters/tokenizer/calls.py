"""The calls of tokenizers that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.adapters.contract import BpeTrainerConfig
from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.stimuli import kinds, toy
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

TEXTS = (("low er", "er low"), ("low er", "low er"), ("lower", "low"), ("low", "new"))  # and the text before
IDS = (([0, 3], [1, 3]), ([0, 3], [0, 3]), ([0], [1, 0, 3]))  # and the ids before


def texts(subject: Subject, case: Case) -> Iterator[Trial]:
    for kind in kinds(subject):
        for text, earlier in TEXTS:
            trial = Trial(Call(subject.component, toy(subject, kind), {}, {"text": text}, ()))
            yield trial.after({"text": earlier}, what=f"ids of {text!r} after {earlier!r}")


def ids(subject: Subject, case: Case) -> Iterator[Trial]:
    for kind in kinds(subject):
        for numbers, earlier in IDS:
            trial = Trial(Call(subject.component, toy(subject, kind), {}, {"ids": numbers}, ()))
            yield trial.after({"ids": earlier}, what=f"text of {numbers} after {earlier}")


def id_lists(subject: Subject, case: Case) -> Iterator[Trial]:
    for kind in kinds(subject):
        yield Trial(Call(subject.component, toy(subject, kind), {}, {"ids": [3, 1, 3, 0]}, ()))


def merges(subject: Subject, case: Case) -> Iterator[Trial]:
    words, earlier = ["low", "lower", "low"], ["new", "newer", "new", "new"]
    trial = Trial(Call(subject.component, BpeTrainerConfig(2), {}, {"words": words}, ()))
    yield trial.after({"words": earlier}, what=f"merges of {words} after those of {earlier}")


def word_lists(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(Call(subject.component, BpeTrainerConfig(2), {}, {"words": ["low", "er", "lower", "low"]}, ()))


CALLS = {
    "tokenizer": {
        "CALL-REPEAT-1": Trials(texts, (stimuli.WRITTEN,)),
    },
    "detokenizer": {
        "CALL-IMMUT-1": Trials(id_lists, (stimuli.WRITTEN,)),
        "CALL-REPEAT-1": Trials(ids, (stimuli.WRITTEN,)),
    },
    "bpe_trainer": {
        "CALL-IMMUT-1": Trials(word_lists, (stimuli.WRITTEN,)),
        "CALL-REPEAT-1": Trials(merges, (stimuli.WRITTEN,)),
    },
}
