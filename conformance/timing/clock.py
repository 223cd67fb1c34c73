"""Clocks: how long a sample of calls took, on the CPU and on CUDA.

On the CPU, ratios are made of process time: the computing time of this process in all its threads. A busy neighbour
lengthens the wall time, of long samples more than of short ones, but not the process time. Both are measured; their
difference shows what a contender waits for (another process, a sleep).
The clock waits until all of a contender's own threads sleep: beside busy neighbours a thread may run after the call has
returned, and its work would be counted in the next contender's time.

The clocks come from a private copy of the time module. A submission that replaces ``time.perf_counter`` gains nothing,
and is noticed (integrity.py).
"""

import importlib.util
import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import torch

Run = Callable[[int], Any]  # computes on the i-th set of inputs
SEVERAL = 0.1  # fraction of a contender's computing time that threads other than the caller may take
REST = 2e-3  # seconds that the caller sleeps to see whether other threads compute
RESTS = 100  # rests, at most, until all other threads sleep
FLUSHES = 6  # on CUDA, before a sample: half a millisecond, in which the host launches what is timed


def pristine(name: str) -> ModuleType:
    """Return a new copy of a built-in module. Raises ImportError if there is none of this name."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module {name!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_time = pristine("time")
now: Callable[[], float] = _time.perf_counter
_event, _synchronize = torch.cuda.Event, torch.cuda.synchronize  # kept before a submission can replace them


def _never() -> int:
    return 0


_listdir, _open, _own_id = os.listdir, open, threading.get_native_id


def _busy_threads() -> int:
    """Return how many other threads of this process are running or wait for a processor."""
    own, busy = str(_own_id()), 0
    for thread in _listdir("/proc/self/task"):
        if thread != own:
            try:
                with _open(f"/proc/self/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    busy += file.read().rpartition(")")[2].split()[0] == "R"
            except OSError:  # it has ended meanwhile
                continue
    return busy


BUSY = _busy_threads if Path("/proc/self/task").is_dir() else None  # on other systems, their computing time tells


try:
    from resource import RUSAGE_SELF, getrusage

    def _waits() -> int:
        return getrusage(RUSAGE_SELF).ru_nvcsw

except ImportError:  # on Windows
    _waits = _never


@dataclass(frozen=True)
class Job:
    """One sample to take: ``inner`` runs on sets of inputs, from set ``first`` on; a run makes ``calls`` calls.

    ``before()`` is called before the sample, ``after(returned)`` with the last run's result; neither is timed.
    """

    run: Run
    inner: int = 1
    calls: int = 1
    first: int = 0
    before: Callable[[], None] | None = None
    after: Callable[[Any], None] | None = None

    def __call__(self) -> Any:
        returned = None
        for i in range(self.first, self.first + self.inner):
            returned = self.run(i)
        return returned

    @property
    def total(self) -> int:
        return self.inner * self.calls


@dataclass(frozen=True)
class Sample:
    """The times of a sample, in seconds for one call."""

    seconds: float  # by the clock of the ratios
    wall: float = math.nan  # by the host's clock; NaN where it was not read
    waits: float = 0.0  # times that the process gave the processor up to wait for something
    late: float = 0.0  # how long the device went on after the call's own stream had ended
    mhz: float = math.nan  # the processor's clock; NaN where it cannot be seen
    others: float = 0.0  # computing time of threads other than the caller's, until they slept


class Clock(Protocol):
    """Takes samples. ``now()`` is the wall time in seconds."""

    @property
    def name(self) -> str: ...

    @property
    def now(self) -> Callable[[], float]: ...

    def sample(self, job: Job) -> Sample: ...

    def idle(self, seconds: float) -> float:
        """Return how many seconds other threads computed while the caller slept for ``seconds``."""
        ...


@dataclass
class ProcessClock:
    """The CPU's clock: computing time of this process."""

    name: str = "process"
    computing: Callable[[], float] = _time.process_time
    now: Callable[[], float] = now
    waits: Callable[[], int] = _waits
    sleep: Callable[[float], None] = _time.sleep
    own: Callable[[], float] = _time.thread_time  # computing time of the calling thread
    busy: Callable[[], int] | None = BUSY  # how many other threads are

    def sample(self, job: Job) -> Sample:
        if job.before:
            job.before()
        run, sets = job.run, range(job.first, job.first + job.inner)
        returned = None
        waited, wall, own, start = self.waits(), self.now(), self.own(), self.computing()
        for i in sets:
            returned = run(i)
        seconds, wall = self.computing() - start, self.now() - wall
        waited = self.waits() - waited
        if job.after:
            job.after(returned)
        self._let_rest()
        others = max(0.0, (self.computing() - start) - (self.own() - own))
        return Sample(seconds / job.total, wall / job.total, waited / job.total, others=others / job.total)

    def _let_rest(self) -> None:
        """Wait until no other thread computes: workers go on for a while, waiting for work."""
        for _ in range(RESTS):
            if self.busy is not None and not self.busy():
                return
            if self.idle(REST) < REST / 10 and self.busy is None:
                return

    def idle(self, seconds: float) -> float:
        start = self.computing()
        self.sleep(seconds)
        return self.computing() - start


@dataclass
class CudaClock:
    """CUDA's clock: events on the current stream, behind a flush of the L2 cache that lets the host run ahead.

    Every sample waits for the whole device. Work that another stream does meanwhile is the sample's ``late``, and so in
    no other sample. Every ``checked``-th sample is also timed by the host, between two synchronisations.
    """

    flush: Callable[[], None]
    name: str = "events"
    checked: int = 4
    event: Callable[..., Any] = _event
    synchronize: Callable[[], None] = _synchronize
    now: Callable[[], float] = now
    mhz: Callable[[], float] = lambda: math.nan
    taken: int = 0

    def sample(self, job: Job) -> Sample:
        self.taken += 1
        if job.before:
            job.before()
        self.flush()
        start, end = self.event(enable_timing=True), self.event(enable_timing=True)
        start.record()
        returned = job()
        end.record()
        end.synchronize()
        ended = self.now()
        self.synchronize()
        late, mhz = self.now() - ended, self.mhz()
        if job.after:
            job.after(returned)
        wall = self._by_host(job) if self.taken % self.checked == 1 else math.nan
        return Sample(start.elapsed_time(end) / 1e3 / job.total, wall, 0.0, late, mhz)

    def _by_host(self, job: Job) -> float:
        self.synchronize()
        start = self.now()
        job()
        self.synchronize()
        return (self.now() - start) / job.total

    def idle(self, seconds: float) -> float:
        return 0.0  # every sample has its ``late``


def cuda_clock(cache_bytes: int, mhz: Callable[[], float] | None = None) -> CudaClock:
    """Return CUDA's clock for a device with an L2 cache of this size."""
    beyond = torch.empty(max(256 * 2**20, 4 * cache_bytes), dtype=torch.int8, device="cuda")

    def flush() -> None:
        for _ in range(FLUSHES):
            beyond.zero_()

    return CudaClock(flush) if mhz is None else CudaClock(flush, mhz=mhz)
