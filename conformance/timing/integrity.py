"""Whether a time can be believed: what a contender may not do while it is timed, and what no contender can.

The catalogue is that of people who were fooled: KernelBench (EVAL.md), pygpubench, GPU MODE. Each flag has a code, says
in words what was seen, and says whether the time means nothing because of it ("suspect").
"""

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure, Measure, same_values
from attnconf.conformance.timing.accuracy import Tier
from attnconf.conformance.timing.clock import REST, SEVERAL, Clock, Sample
from attnconf.conformance.timing.problem import Numbers, Problem, plainly

_TIMERS: dict[str, tuple[Any, str]] = {
    **{
        f"time.{name}": (time, name)
        for name in ("perf_counter", "perf_counter_ns", "process_time", "time", "monotonic")
    },
    "torch.cuda.synchronize": (torch.cuda, "synchronize"),
    "torch.cuda.Event": (torch.cuda, "Event"),
    "torch.cuda.Event.elapsed_time": (torch.cuda.Event, "elapsed_time"),
    "torch.cuda.Event.record": (torch.cuda.Event, "record"),
    "torch.autograd.grad": (torch.autograd, "grad"),
}
_KEPT = {name: getattr(owner, attribute) for name, (owner, attribute) in _TIMERS.items()}


@dataclass(frozen=True)
class Flag:
    """Something that was seen of a contender; ``suspect``: its time means nothing."""

    code: str
    text: str
    suspect: bool = True


@dataclass
class Watch:
    """Looks at one contender: at what it returns, and at what it leaves behind."""

    name: str
    problem: Problem
    tier: Tier
    clock: Clock
    flags: dict[str, Flag] = field(default_factory=dict)
    given: Numbers | None = None
    threads: frozenset[int | None] = frozenset()

    def flag(self, code: str, text: str, suspect: bool = True) -> None:
        """Note a flag; the first of a code stays, but for a graver one."""
        if code not in self.flags or (suspect and not self.flags[code].suspect):
            self.flags[code] = Flag(code, text, suspect)

    def before(self, first: int, count: int) -> None:
        """Change the inputs of a sample, and remember those of its last call."""
        self.problem.touch(first, count)
        self.remember(first + count - 1)

    def remember(self, last: int) -> None:
        """Remember what is there before a call."""
        self.threads = _threads()
        self.given = self.problem.of(last).copy()

    def after(self, last: int, returned: Any) -> None:
        """Compare what the last call of a sample returned, as it is now, with what it must be."""
        try:
            self.demand(last, returned)
        except Failure as failure:
            self.flag("wrong-when-timed", f"right before it was timed, but while it was: {failure.message}")

    def demand(self, last: int, returned: Any, first: bool = False) -> Measure:
        """Return the measure of the output of the last call, as it is now. Raises Failure; what goes on is flagged."""
        assert self.given is not None
        several = isinstance(returned, tuple)
        now = [x.clone() if isinstance(x, Tensor) else x for x in (returned if several else [returned])]
        self._settle(suspect=not first)
        self._compare_inputs(last)
        plain(returned, self.problem.of(last))
        return self.tier.check(self.given, tuple(now) if several else now[0], first)

    def _settle(self, suspect: bool) -> None:
        """Look for what goes on. At the first call workers may start; later, a thread at each call is a trick."""
        more = len(_threads() - self.threads)
        if more:
            self.flag("thread", f"{more} thread(s) that a call had started went on after it returned", suspect)
        if self.clock.idle(REST) > REST / 4:
            self.flag("work-after-return", "something was still computed after a call had returned", suspect=False)

    def _compare_inputs(self, last: int) -> None:
        assert self.given is not None
        now, given = self.problem.of(last), self.given
        pairs = {name: (x, given.inputs[name]) for name, x in now.inputs.items()}
        pairs |= {"the cotangent": (now.cotangent, given.cotangent)}
        changed = [name for name, (x, before) in pairs.items() if not same_values(x.detach(), before)]
        if changed:
            for name in changed:
                pairs[name][0].data.copy_(pairs[name][1])  # the others are given the same
            self.flag("changed-inputs", f"it changed {', '.join(changed)} in place")
            raise Failure("property", f"changed {', '.join(changed)} in place")


def _threads() -> frozenset[int | None]:
    return frozenset(thread.ident for thread in threading.enumerate())


def plain(returned: Any, given: Numbers) -> None:
    """Raise Failure unless every value is a tensor as such, in memory of its own."""
    handed = {x.untyped_storage().data_ptr() for x in given.leaves}
    for x in returned if isinstance(returned, tuple) else (returned,):
        if x is None and x is not returned:
            continue  # a gradient that is not there: the tier says so
        x = plainly(x)
        if x.layout != torch.strided or x.device != given.first.device or x.dtype != given.first.dtype:
            want = f"dense {given.first.dtype} on {given.first.device}"
            raise Failure("dtype", f"returned a tensor in {x.layout}, {x.dtype} on {x.device}, want {want}")
        if x.untyped_storage().nbytes() == 0 or x.untyped_storage().data_ptr() == 0:
            raise Failure("protocol", "returned a tensor without memory: nothing has been computed")
        if x.untyped_storage().data_ptr() in handed:
            raise Failure("protocol", "returned memory that it was handed")


def replaced_timers() -> dict[str, str]:
    """Return the timers that are no longer those of the libraries, with the file that the new ones come from."""
    found = {}
    for name, (owner, attribute) in _TIMERS.items():
        now = getattr(owner, attribute, None)
        if now is not _KEPT[name]:
            found[name] = getattr(getattr(now, "__code__", None), "co_filename", "")
    return found


# -- settings that everybody shares

_SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "the number of threads": (torch.get_num_threads, torch.set_num_threads),
    "the default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "the precision of float32 products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "the gradient mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "deterministic algorithms": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
}


def settings() -> dict[str, Any]:
    """Return what a contender could set for all."""
    return {name: read() for name, (read, _) in _SETTINGS.items()}


def restore(before: dict[str, Any]) -> list[str]:
    """Set everything back; return what had been changed."""
    changed = [name for name, value in settings().items() if value != before[name]]
    for name in changed:
        _SETTINGS[name][1](before[name])
    return changed


# -- what samples tell


def of_samples(samples: Sequence[Sample], anchor: Sequence[Sample]) -> list[Flag]:
    """Return the flags that follow from a contender's samples, beside the anchor's of the same rounds."""
    flags = []
    seconds, slow = (statistics.median(s.seconds for s in each) for each in (samples, anchor))
    host, share = _host(samples), _host(anchor)
    if host is not None and share is not None and host > 2 * share and statistics.median(s.waits for s in samples) > 0:
        # what seems no faster gains nothing by it: its own threads may be kept waiting by neighbours
        words = f"{1 - 1 / host:.0%} of the wall's time it waits, and is not computing"
        flags.append(Flag("waits", words, suspect=seconds < 2 * slow))
    others = statistics.median(s.others / s.seconds for s in samples)
    if others > SEVERAL:
        words = f"threads of its own compute for {others:.0%} of the time that a call takes, while everybody has one"
        flags.append(Flag("several-threads", words))
    late = statistics.median(s.late for s in samples)
    if late > 0.1 * seconds + 20e-6:
        flags.append(Flag("other-stream", f"the device went on for {late * 1e6:.0f} µs after the call's own stream"))
    return flags


def _host(samples: Sequence[Sample]) -> float | None:
    """Return the median of wall's time by the clock's, where the wall was looked at."""
    shares = [s.wall / s.seconds for s in samples if s.wall == s.wall]
    return statistics.median(shares) if shares else None
