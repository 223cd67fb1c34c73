"""The calls of both norms that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import (
    AUTOGRAD,
    LAYOUTS,
    Laws,
    Trial,
    Trials,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.shared.norms import call_on, gain_of, large_eps, plain_call, shift_of, tokens
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def laws(one: tuple[Case, ...], edges: tuple[Case, ...], narrow: tuple[Case, ...]) -> Laws:
    """Return the calls of a norm by law: on one usual case, for shapes on edges and few features, too."""
    return {
        "CALL-SHAPE-1": Trials(norm, (one, edges, narrow)),
        **of_dtypes(weighed, one),
        "CALL-EMPTY-1": Trials(without_samples(norm), (one,)),
        "CALL-LAYOUT-1": Trials(laid_out, (one,)),
        "CALL-MODE-1": Trials(in_modes, (one,)),
        "CALL-IMMUT-1": Trials(weighed, (one,)),
        "CALL-REPEAT-1": Trials(after_others, (one,)),
    }


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
