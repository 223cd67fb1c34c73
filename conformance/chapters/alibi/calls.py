"""The calls of ALiBi that the laws of every call are judged with."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.conformance.chapters.alibi import stimuli
from attnconf.conformance.chapters.alibi.checks import against_own_key, attending, bias_call, tokens
from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_modes, laid_out, of_dtypes, without_samples
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def bias(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(bias_call(subject, case, case.S, case.S))


def bias_read(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call whose bias is read against each query's own key: where keys are hidden, it has no meaning."""
    yield Trial(replace(bias_call(subject, case, case.S, case.S), read=lambda out: against_own_key(out.double(), True)))


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S, case.B)))


def of_one(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S)))


def bias_after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after shorter and longer ones."""
    for trial in bias_read(subject, case):
        for before in befores(case):
            lengths = [{"query_length": n, "key_length": n} for n in before]
            yield trial.after(*lengths, what=f"after calls with {before}")


def attention_after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after shorter and longer ones: its queries are zero, so that the weights are those of the bias."""
    call = attending(subject, *blind(case, case.S))
    for before in befores(case):
        earlier = [attending(subject, *tokens(case, n)).inputs for n in before]
        yield Trial(call).after(*earlier, what=f"after calls with {before}")


def blind(case: Case, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens whose queries are zero."""
    q, k, v = tokens(case, length)
    return torch.zeros_like(q), k, v


def befores(case: Case) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of earlier calls."""
    return (case.S - 3,), (case.S + 2,), (case.S + 2, case.S - 3)


CALLS = {
    "alibi": {
        "CALL-SHAPE-1": Trials(bias, (stimuli.USUAL, stimuli.EDGES)),
        "CALL-MODE-1": Trials(in_modes(bias_read), (stimuli.USUAL[:1],)),
        "CALL-REPEAT-1": Trials(bias_after_others, (stimuli.USUAL,)),
    },
    "alibi_attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.USUAL, stimuli.EDGES)),
        **of_dtypes(of_one, stimuli.USUAL, half=(torch.bfloat16,)),
        "CALL-EMPTY-1": Trials(without_samples(attention), (stimuli.USUAL[:1],)),
        "CALL-LAYOUT-1": Trials(laid_out(attention), (stimuli.USUAL[:1],)),
        "CALL-MODE-1": Trials(in_modes(attention), (stimuli.USUAL[:1],)),
        "CALL-IMMUT-1": Trials(attention, (stimuli.USUAL[:1],)),
        "CALL-REPEAT-1": Trials(attention_after_others, (stimuli.USUAL,)),
    },
}
