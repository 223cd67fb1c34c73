"""The calls that make masks, with which the laws of every call are judged."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_modes
from attnconf.conformance.chapters.mask_making import stimuli
from attnconf.conformance.chapters.mask_making.stimuli import asked
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def masks(subject: Subject, case: Case) -> Iterator[Trial]:
    for one in asked(subject, case):
        yield Trial(one.call, f"told by {one.how}")


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield calls after others: for fewer and for more tokens; of masks of padding, for other rows."""
    for trial in masks(subject, case):
        if subject.component == "causal_mask":
            for n in (case.L - 3, case.L + 2):
                yield trial.after({"query_length": n, "key_length": n}, what=f"after a call with {n} tokens")
        else:
            yield trial.after({"tokens": trial.call.inputs["tokens"].roll(1, dims=0)}, what="after other rows")


LAWS = {
    "CALL-SHAPE-1": Trials(masks, (stimuli.USUAL, stimuli.SAMPLE, stimuli.TOKEN)),
    "CALL-MODE-1": Trials(in_modes(masks), (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(after_others, (stimuli.USUAL,)),
}
OF_TOKENS = {**LAWS, "CALL-IMMUT-1": Trials(masks, (stimuli.ONE,))}
CALLS = {"causal_mask": LAWS, "padding_mask": OF_TOKENS, "decoder_mask": OF_TOKENS}
