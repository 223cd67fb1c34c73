"""The calls of relative position biases that the laws of every call are judged with."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.conformance.chapters.calls.stimuli import (
    Trial,
    Trials,
    gives_numbers,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.relative_bias import stimuli
from attnconf.conformance.chapters.relative_bias.checks import SIZES, attending, bias_call, one_column, tokens
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def table_of(case: Case) -> Tensor:
    return case.draw("table", SIZES[0], case.H)


def bias(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(bias_call(subject, table_of(case), case.S, case.S))


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S, case.B), table_of(case)))


def of_one(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S), table_of(case)))


def befores(case: Case) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of earlier calls."""
    return (case.S - 3,), (case.S + 1, case.S - 3)


def bias_after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(bias_call(subject, one_column(case, SIZES[0]), case.S, case.S))
    for before in befores(case):
        lengths = [{"query_length": n, "key_length": n} for n in before]
        yield trial.after(*lengths, what=f"after calls with {before} tokens")
    fewer = {"query_length": case.S - 3, "key_length": case.S}
    if gives_numbers(subject, replace(trial.call, inputs=fewer, out_shape=(case.H, case.S - 3, case.S))):
        yield trial.after(fewer, what=f"after a call with {case.S - 3} queries for as many keys")


def attention_after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    table = one_column(case, SIZES[0])
    trial = Trial(attending(subject, *tokens(case, case.S), table))
    for before in befores(case):
        earlier = [attending(subject, *tokens(case, n), table).inputs for n in before]
        yield trial.after(*earlier, what=f"after calls with {before} tokens")


CALLS = {
    "relative_bias": {
        "CALL-SHAPE-1": Trials(bias, (stimuli.USUAL, stimuli.EDGES)),
        **of_dtypes(bias, stimuli.ONE, half=(torch.bfloat16,)),
        "CALL-MODE-1": Trials(in_modes(bias), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(bias, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(bias_after_others, (stimuli.ONE,)),
    },
    "relative_bias_attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.USUAL, stimuli.EDGES)),
        **of_dtypes(of_one, stimuli.ONE, half=(torch.bfloat16,)),
        "CALL-EMPTY-1": Trials(without_samples(attention), (stimuli.ONE,)),
        "CALL-LAYOUT-1": Trials(laid_out(attention), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(attention), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(attention, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(attention_after_others, (stimuli.ONE,)),
    },
}
