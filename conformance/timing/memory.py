"""The memory of a call beyond its inputs: from torch's allocator on CUDA, counted by operation on the CPU."""

import contextlib
import sys
from collections.abc import Iterator

import torch

from attnconf.conformance.engine.boundary import foreign
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.timing.problem import Problem
from attnconf.conformance.worker.counter import Counting


@contextlib.contextmanager
def allocated(device: str) -> Iterator[dict[str, int]]:
    """Give a dict that has, at the end, the peak of CUDA memory in "bytes" beyond the start; {} on the CPU."""
    found: dict[str, int] = {}
    if device == "cpu":
        yield found
        return
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    yield found
    torch.cuda.synchronize()
    found["bytes"] = torch.cuda.max_memory_allocated() - before


_compiling: set[str] = set()  # names of implementations that use torch.compile


@contextlib.contextmanager
def noticing_compilers(implementation: Implementation) -> Iterator[None]:
    """Note an implementation as compiling if torch.compile compiles something in this context."""
    before = _compiled_frames()
    yield
    if _compiled_frames() > before:
        _compiling.add(implementation.name)


def _compiled_frames() -> int:
    dynamo = sys.modules.get("torch._dynamo.utils")
    return int(dynamo.counters["frames"]["total"]) if dynamo else 0


def forget_compiled() -> None:
    """Let torch.compile compile anew.

    It silently gives up on a function that was called in too many shapes, and judging calls all functions in many.
    """
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


def counted(implementation: Implementation, problem: Problem) -> int | None:
    """Return the most bytes that one call has alive at one time, or None where that cannot be counted.

    Backward is counted with the forward that it needs, as on CUDA. An implementation that compiles is not counted:
    counting would see the operations before compilation, and disturb the compiler.
    """
    if implementation.name in _compiling:
        return None
    given = problem.of(0)
    counting = Counting([*given.leaves, given.cotangent])
    try:
        run = problem.runner(implementation)
        with foreign(implementation), counting:
            returned = run(0)
    except (Failure, Unsupported):
        return None
    out = returned[0] if isinstance(returned, tuple) else returned
    return counting.take().peak_bytes if counting.saw(out) else None
