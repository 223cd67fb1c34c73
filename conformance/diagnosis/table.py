"""Mutants' replies to calls, remembered for as long as the process lasts.

The scored calls are the same for all implementations of a component in the same conventions, so the second file that
is diagnosed finds most replies here. The key of a call is its content: everything that is handed over, and how.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request

Key = tuple[Any, ...]
BYTES = 2**27  # of replies, at most: 128 MB
_BESIDES = 2000  # bytes that a reply takes besides its numbers


class Table:
    """Replies by (mutant, conventions, call); the least recently used ones are forgotten first."""

    def __init__(self, limit: int = BYTES) -> None:
        self.limit, self.bytes = limit, 0
        self._replies: OrderedDict[Key, Reply | Failure] = OrderedDict()

    def reply(self, key: Key, compute: Callable[[], Reply | Failure]) -> Reply | Failure:
        """Return the reply under this key; compute and remember it if there is none."""
        if key in self._replies:
            self._replies.move_to_end(key)
            return self._replies[key]
        computed = self._replies[key] = compute()
        self.bytes += size(computed)
        while self.bytes > self.limit:
            self.bytes -= size(self._replies.popitem(last=False)[1])
        return computed


def size(reply: Reply | Failure) -> int:
    """Return about how many bytes a reply takes."""
    if isinstance(reply, Failure):
        return _BESIDES
    return _BESIDES + sum(x.nbytes for x in (reply.out, reply.weights, *reply.grads.values()) if x is not None)


def content(request: Request) -> bytes | None:
    """Return a digest of everything in a request; None if its reply is random (dropout without a seed)."""
    dropout = getattr(request.config, "dropout", None)
    if request.seed is None and dropout:
        return None
    hashed = blake2b(digest_size=16)
    for one in fields(request):
        _add(hashed.update, getattr(request, one.name))
    return hashed.digest()


def _add(add: Callable[[bytes], None], value: Any) -> None:
    """Add a value to a digest, so that two different values never add the same bytes."""
    if isinstance(value, Tensor):
        add(f"tensor {value.dtype} {tuple(value.shape)} {value.device}:".encode())
        plain = value.detach().cpu().clone(memory_format=torch.contiguous_format)  # one number may lie at stride 0
        add(plain.reshape(-1).view(torch.uint8).numpy().tobytes())
    elif isinstance(value, Mapping):
        add(f"mapping {len(value)}:".encode())
        for name, inner in value.items():
            _add(add, name)
            _add(add, inner)
    elif isinstance(value, tuple | list):
        add(f"{type(value).__name__} {len(value)}:".encode())
        for inner in value:
            _add(add, inner)
    else:
        add(f"{type(value).__name__} {value!r};".encode())
