"""CUDA's context: an assertion in a kernel, as an index out of range sets off, ends it for the whole process."""

from collections.abc import Iterable

import torch
from torch import Tensor


def finish(tensors: Iterable[Tensor]) -> None:
    """Wait for what was launched on the device of these tensors. Raises RuntimeError for what went wrong there."""
    if any(x.is_cuda for x in tensors):
        torch.cuda.synchronize()


def is_lost() -> bool:
    """Return whether CUDA's context has ended: from now on every call of the device fails in this process."""
    if not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False
