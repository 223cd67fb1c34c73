"""The calls of root mean square normalization that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import AUTOGRAD, LAYOUTS, Trial, Trials, in_dtypes, without_samples
from attnconf.conformance.chapters.rms_norm import stimuli
from attnconf.conformance.chapters.shared.norms import call_on, gain_of, large_eps, plain_call, shift_of, tokens
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def norm(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(plain_call(subject, tokens(case)))


def weighed(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, tokens(case), gain_of(case), shift_of(subject, case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    earlier = {"x": 3 * tokens(case, "earlier") + 2}
    yield Trial(plain_call(subject, tokens(case))).after(earlier, earlier, what="after other calls")


def laid_out(subject: Subject, case: Case) -> Iterator[Trial]:
    x = tokens(case)
    yield Trial(plain_call(subject, x), layouts=LAYOUTS)
    yield Trial(plain_call(subject, x[:1].expand_as(x)), layouts=("expanded",))


def in_modes(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(large_eps(subject, tokens(case), gain_of(case), shift_of(subject, case)), modes=AUTOGRAD)


CALLS = {
    "rms_norm": {
        "CALL-SHAPE-1": Trials(norm, (stimuli.ONE, stimuli.EDGES, stimuli.NARROW), any_weights=True),
        "CALL-DTYPE-1": Trials(in_dtypes(weighed), (stimuli.ONE,), any_weights=True),
        "CALL-EMPTY-1": Trials(without_samples(norm), (stimuli.ONE,), any_weights=True),
        "CALL-LAYOUT-1": Trials(laid_out, (stimuli.ONE,), any_weights=True),
        "CALL-MODE-1": Trials(in_modes, (stimuli.ONE,), any_weights=True),
        "CALL-IMMUT-1": Trials(weighed, (stimuli.ONE,), any_weights=True),
        "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,), any_weights=True),
    },
}
