"""The calls of token embeddings that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_modes, laid_out, of_dtypes, without_samples
from attnconf.conformance.chapters.token_embedding import stimuli
from attnconf.conformance.chapters.token_embedding.checks import call_on, numbers
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def tokens(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, numbers(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(call_on(subject, case, numbers(case)))
    for what, length in (("as many", case.L), ("more", case.L + 4), ("fewer", max(1, case.L - 3))):
        earlier = numbers(case.but(L=length), f"{what} ids")
        yield trial.after({"ids": earlier}, what=f"after a call with {what} tokens")


def none(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, numbers(case)[:, :0]))


LAWS = {
    "CALL-SHAPE-1": Trials(tokens, (stimuli.USUAL, stimuli.EDGES)),
    **of_dtypes(tokens, stimuli.ONE),
    "CALL-LAYOUT-1": Trials(laid_out(tokens), (stimuli.ONE,)),
    "CALL-MODE-1": Trials(in_modes(tokens), (stimuli.ONE,)),
    "CALL-IMMUT-1": Trials(tokens, (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
}
CALLS = {
    "token_embedding": {**LAWS, "CALL-EMPTY-1": Trials(none, (stimuli.ONE,))},
    "token_attention": {**LAWS, "CALL-EMPTY-1": Trials(without_samples(tokens), (stimuli.ONE,))},
}
