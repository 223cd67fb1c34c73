"""Whether a time can be believed: flags for tricks, and for results that no hardware can reach.

The tricks are those that fooled others: KernelBench (EVAL.md), pygpubench, GPU MODE. A flag has a code, words on what
was observed, and "suspect" if the time means nothing because of it.
"""

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure, Measure
from attnconf.conformance.timing.accuracy import Tier
from attnconf.conformance.timing.clock import REST, SEVERAL, Clock, Sample
from attnconf.conformance.timing.problem import Numbers, Problem, plainly
from attnconf.conformance.worker.handing_over import same_values

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
    """An observation on a contender; ``suspect``: its time means nothing."""

    code: str
    text: str
    suspect: bool = True


@dataclass
class Inspector:
    """Inspects one contender: its results, and the threads and settings that it leaves behind."""

    name: str
    problem: Problem
    tier: Tier
    clock: Clock
    flags: dict[str, Flag] = field(default_factory=dict)
    given: Numbers | None = None
    threads: frozenset[int | None] = frozenset()

    def flag(self, code: str, text: str, suspect: bool = True) -> None:
        """Add a flag; of two with one code the first stays, unless only the second is suspect."""
        if code not in self.flags or (suspect and not self.flags[code].suspect):
            self.flags[code] = Flag(code, text, suspect)

    def before(self, first: int, count: int, looked: int) -> None:
        """Change the inputs of a sample, and remember those of the call whose result may be looked at."""
        self.problem.touch(first, count)
        self.remember(looked)

    def remember(self, last: int) -> None:
        """Remember the running threads and the inputs before a call."""
        self.threads = _threads()
        self.given = self.problem.of(last).copy()

    def after(self, last: int, returned: Any) -> None:
        """Compare the last result of a sample, as it is now, with the wanted one."""
        try:
            self.demand(last, returned)
        except Failure as failure:
            self.flag("wrong-when-timed", f"right before it was timed, but while it was: {failure.message}")

    def demand(self, last: int, returned: Any, first: bool = False) -> Measure:
        """Return the measure of the last call's output, as it is now. Raises Failure; work that goes on is flagged."""
        assert self.given is not None
        several = isinstance(returned, tuple)
        now = [x.clone() if isinstance(x, Tensor) else x for x in (returned if several else [returned])]
        self._settle(suspect=not first)
        self._compare_inputs(last)
        plain(returned, self.problem.of(last))
        return self.tier.check(self.given, tuple(now) if several else now[0], first)

    def _settle(self, suspect: bool) -> None:
        """Flag threads and work that go on after a call. Workers may start at the first call, and not later."""
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
                pairs[name][0].data.copy_(pairs[name][1])  # the other contenders are given the same tensors
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
    """Return the replaced timers of libraries by name, with the file of each replacement."""
    found = {}
    for name, (owner, attribute) in _TIMERS.items():
        now = getattr(owner, attribute, None)
        if now is not _KEPT[name]:
            found[name] = getattr(getattr(now, "__code__", None), "co_filename", "")
    return found


# -- settings of the whole process

_SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "the number of threads": (torch.get_num_threads, torch.set_num_threads),
    "the default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "the precision of float32 products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "the gradient mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "deterministic algorithms": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
}


def settings() -> dict[str, Any]:
    """Return the settings of the process that a contender could change for all."""
    return {name: read() for name, (read, _) in _SETTINGS.items()}


def restore(before: dict[str, Any]) -> list[str]:
    """Restore all settings; return the names of the changed ones."""
    changed = [name for name, value in settings().items() if value != before[name]]
    for name in changed:
        _SETTINGS[name][1](before[name])
    return changed


# -- flags from samples


def of_samples(samples: Sequence[Sample], anchor: Sequence[Sample]) -> list[Flag]:
    """Return the flags that follow from a contender's samples, beside the anchor's of the same rounds."""
    flags = []
    seconds, slow = (statistics.median(s.seconds for s in each) for each in (samples, anchor))
    host, share = _host(samples), _host(anchor)
    if host is not None and share is not None and host > 2 * share and statistics.median(s.waits for s in samples) > 0:
        # a contender that is no faster gains nothing: neighbours may keep its threads waiting
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
    """Return the median of wall time divided by clock time, over the samples with both."""
    shares = [s.wall / s.seconds for s in samples if s.wall == s.wall]
    return statistics.median(shares) if shares else None
