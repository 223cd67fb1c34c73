"""CUDA graphs: many short calls recorded once and replayed, so that launching them does not hide their time."""

from typing import Any

import torch

from attnconf.conformance.timing.clock import Run

TOO_SHORT = 50e-6  # seconds: launching takes as long
ENOUGH = 200e-6  # seconds that a recording takes


def recorded(run: Run, calls: int, cuda: Any = torch.cuda) -> Run | None:
    """Return a function that replays calls 0, 1, … at once and returns the last result; None if recording fails.
    A call that waits for the device, or allocates outside torch, cannot be recorded.
    """
    aside = cuda.Stream()
    aside.wait_stream(cuda.current_stream())
    try:
        with cuda.stream(aside):
            for i in range(3):
                run(i)
        cuda.current_stream().wait_stream(aside)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            returned = [run(i) for i in range(calls)]
    except Exception:  # torch says in many ways that a call cannot be captured
        return None

    def replay(_: int) -> Any:
        graph.replay()
        return returned[-1]

    return replay
