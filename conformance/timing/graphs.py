"""CUDA graphs: many short calls recorded once and replayed, so that launching them does not hide their time."""

from typing import Any

import torch

from attnconf.conformance.timing.clock import Run

TOO_SHORT = 50e-6  # seconds: launching takes as long
ENOUGH = 200e-6  # seconds that a recording takes


def recorded(run: Run, calls: int, cuda: Any = torch.cuda) -> Run | None:
    """Return a function of i that replays calls 0, 1, … at once and returns call i's result; None if recording fails.

    A call that waits for the device, or allocates outside torch, cannot be recorded. All calls are made before: what
    remembers results by their inputs' memory records nothing then, and has no result of changed inputs.
    """
    aside = cuda.Stream()
    aside.wait_stream(cuda.current_stream())
    try:
        with cuda.stream(aside):
            for i in range(calls):
                run(i)
        cuda.current_stream().wait_stream(aside)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            returned = [run(i) for i in range(calls)]
    except Exception:  # torch says in many ways that a call cannot be captured
        return None

    def replay(i: int) -> Any:
        graph.replay()
        return returned[i]

    return replay
