"""The processes that examine submissions: as many as are asked for, each ended with its submission where it must be.

An examiner is our own code; what it judges runs in processes of its own. Should one die, a new one examines its
submission again, once; should one not come back long after its submission's time, that is told so. A new one goes on.
"""

import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from attnconf.conformance.grading.examine import Record, Task, unjudged
from attnconf.conformance.grading.rubric import Rubric
from attnconf.spec import courses

GRACE = 120.0  # seconds beyond a submission's time: for what is not its own, as finding the mistake
MEMORY = 800  # MB of an examiner, after which another takes over: each submission leaves something there
LOOK = 1.0
DIED = "error"  # the status where an examiner has


class Examiner:
    """A process that examines one submission at a time."""

    def __init__(self, rubric: Rubric, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, rubric, seed), daemon=True)
        self._process.start()
        theirs.close()
        self.task: Task | None = None
        self.until = 0.0
        self.memory = 0
        self.lost = False  # it has died, or does not come back
        self._seconds = rubric.seconds

    def give(self, task: Task) -> None:
        self.task, self.until = task, time.monotonic() + self._seconds + GRACE
        with contextlib.suppress(OSError):  # it has died: that is found when it is looked at
            self.connection.send(task)

    def taken(self) -> tuple[Task, Record] | None:
        """Return the task with its record, where there is one, or where there will be none; else None."""
        task = self.task
        if task is None:
            return None
        found: Record | None = None
        try:
            if self.connection.poll():
                found, self.memory = self.connection.recv()
            elif not self._process.is_alive():
                raise EOFError
            elif time.monotonic() > self.until:
                found, self.lost = unjudged(task, "timeout", "it was not done long after its time was over"), True
        except (EOFError, OSError):
            self._process.join(1)
            found, self.lost = unjudged(task, DIED, f"what examined it ended ({self._process.exitcode})"), True
        if found is None:
            return None
        self.task = None
        return task, found

    @property
    def spent(self) -> bool:
        """Whether another one has to take over."""
        return self.lost or self.memory > MEMORY

    def end(self) -> None:
        """End it, and with it the processes that it has started."""
        self.connection.close()  # which it ends at, if it waits
        if self.lost or self.task is not None:
            self._process.kill()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def examined(tasks: Sequence[Task], rubric: Rubric, seed: int, jobs: int) -> Iterator[tuple[Task, Record]]:
    """Yield each task with its record, as they come.

    One whose examiner died is examined again, once: somebody else may have ended it.
    """
    left, again = list(reversed(tasks)), set[Task]()
    examiners = [Examiner(rubric, seed) for _ in range(min(jobs, len(left)))]
    try:
        for examiner in examiners:
            examiner.give(left.pop())
        while any(examiner.task for examiner in examiners):
            wait([e.connection for e in examiners if e.task], LOOK)
            for n, examiner in enumerate(examiners):
                taken = examiner.taken()
                if taken is None:
                    continue
                if retried := taken[1]["status"] == DIED and taken[0] not in again:
                    again.add(taken[0])
                    left.append(taken[0])
                if left:
                    examiners[n] = _fresh(examiner, rubric, seed)
                    examiners[n].give(left.pop())
                if not retried:
                    yield taken
    finally:
        for examiner in examiners:
            examiner.end()


def _fresh(examiner: Examiner, rubric: Rubric, seed: int) -> Examiner:
    if not examiner.spent:
        return examiner
    examiner.end()
    return Examiner(rubric, seed)


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(connection: "Connection[Any, Any]", rubric: Rubric, seed: int) -> None:
    """Examine what comes until the connection ends."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began it decides
    if rubric.course:
        courses.use(Path(rubric.course), Path(rubric.course).name)
    keep_warm()
    from attnconf.conformance.grading import examine

    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send((examine.examined(connection.recv(), rubric, seed), _memory()))


def _memory() -> int:
    """Return the memory that this process uses, in MB; 0 where the system does not say."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
    return 0


def settle() -> None:
    """Let this process judge with one thread, and as exactly as it can."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    import torch

    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("highest")


def keep_warm() -> None:
    """Let this process end with the one that began it, and keep warm what it forks."""
    settle()
    from attnconf.conformance.engine import warm
    from attnconf.conformance.worker import ends

    ends.end_with_parent()
    warm.keep_warm(warm.WORKER, warm.BINDER)
