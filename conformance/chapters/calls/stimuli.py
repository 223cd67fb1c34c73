"""What the laws of every call are judged with: calls that the chapters give, by component and law."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Call, Request
from attnconf.conformance.engine.subject import Subject

Mode = tuple[bool, str]  # (whether it is in training, the mode of autograd as in Request)


@dataclass(frozen=True)
class Trial:
    """A call that a law is judged with."""

    call: Call
    what: str = ""  # names it in a message, where a component has several: "pre-norm"
    how: Mapping[str, Any] = field(default_factory=dict)  # it is always made so: fields of Request
    before: tuple[Mapping[str, Any], ...] = ()  # the inputs of earlier calls, after which it is made again
    exact: bool = False  # made again it gives the same bits
    undefined: bool = False  # some of its output may be NaN, and then is each time
    dtype: torch.dtype = torch.float64  # of what it is made of, and so of its output
    or_raises: bool = False  # or it raises an error, as a fill that float16 does not hold may
    layouts: tuple[str, ...] = ()  # in which its inputs lie when it is made again, as in Request
    modes: tuple[Mode, ...] = ()  # in which it is made again
    single: bool = False  # made again, it may differ by roundings of float32 that have passed several layers

    def asked(self, **how: Any) -> Request:
        """Return the request to make the call; ``how``: fields of Request besides its own."""
        return self.call.asked(**self.how, **how)

    def in_mode(self, mode: Mode) -> Request:
        """Return the request to make the call in a mode; what has no training is made as it is."""
        training, autograd = mode
        call = self.call.with_config(training=True) if training else self.call
        return call.asked(**self.how, mode=autograd)

    def after(self, *before: Mapping[str, Any], what: str = "") -> "Trial":
        """Return the trial of the same call after calls with other inputs; ``what`` says which."""
        return replace(self, before=before, what=f"{self.what}: {what}" if self.what else what)

    def told(self, message: str) -> str:
        """Return a message that begins with what the call is."""
        return f"{self.what}: {message}" if self.what else message


Draw = Callable[[Subject, Case], Iterator[Trial]]


@dataclass(frozen=True)
class Trials:
    """The calls by which a law is judged on a component, drawn from each case of some families."""

    draw: Draw
    families: tuple[tuple[Case, ...], ...]


Laws = Mapping[str, Trials]  # by the id of the law; what a chapter has of each of its components is a table of these

LAYOUTS = ("transposed", "offset")
# Of what has no training; of what has, in training too.
AUTOGRAD: tuple[Mode, ...] = ((False, "tracked"), (False, "no_grad"), (False, "inference_mode"))
MODES: tuple[Mode, ...] = (*AUTOGRAD, (True, "plain"))
FULL, HALF = (torch.float64, torch.float32), (torch.bfloat16, torch.float16)


def of_dtypes(draw: Draw, *families: tuple[Case, ...], half: tuple[torch.dtype, ...] = HALF) -> Laws:
    """Return the calls of the laws about dtypes: the same trials of each case in each dtype that a law is about.

    ``half``: the dtypes of half precision that the page of the component names.
    """
    laws = {"CALL-DTYPE-1": FULL, "CALL-DTYPE-2": half, "CALL-FLOAT-1": FULL}
    return {law: Trials(in_dtypes(dtypes, draw), families) for law, dtypes in laws.items() if dtypes}


def in_dtypes(dtypes: tuple[torch.dtype, ...], draw: Draw) -> Draw:
    """Return what draws each trial of a case in all dtypes, one after the other."""

    def drawn(subject: Subject, case: Case) -> Iterator[Trial]:
        for alike in zip(*(draw(subject, case.but(dtype=dtype)) for dtype in dtypes), strict=True):
            for trial, dtype in zip(alike, dtypes, strict=True):
                yield replace(trial, dtype=dtype)

    return drawn


def laid_out(draw: Draw, single: bool = False) -> Draw:
    """Return what draws the trials of each case, to be made with inputs that lie otherwise in memory."""
    return lambda subject, case: (replace(trial, layouts=LAYOUTS, single=single) for trial in draw(subject, case))


def in_modes(draw: Draw, modes: tuple[Mode, ...] = AUTOGRAD, single: bool = False) -> Draw:
    """Return what draws the trials of each case, to be made in other modes."""
    return lambda subject, case: (replace(trial, modes=modes, single=single) for trial in draw(subject, case))


def without_samples(draw: Draw) -> Draw:
    """Return what draws the trials of each case with inputs and output of no samples; masks are samples, too."""

    def drawn(subject: Subject, case: Case) -> Iterator[Trial]:
        for trial in draw(subject, case):
            none = {name: x[:0] for name, x in trial.call.inputs.items()}
            call = replace(trial.call, inputs=none, out_shape=(0, *trial.call.out_shape[1:]))
            yield replace(trial, call=call, what="an empty batch")

    return drawn


def gives_numbers(subject: Subject, call: Call) -> bool:
    """Return whether a call is answered, and with finite numbers."""
    try:
        return bool(subject.call(call.asked()).out.isfinite().all())
    except (Failure, Unsupported):
        return False
