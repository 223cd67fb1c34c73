"""Messages between the two processes: lengths, a JSON header, and the bytes of tensors. Nothing is pickled or run.

A message is the length of the header (4 bytes) and of the body (8 bytes), the header, and the body: the tensors' bytes,
one after the other. A header has ``tensors``: for each its dtype, shape and device; a value names a tensor by number.
"""

import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters import contract

LENGTHS = struct.Struct("!IQ")
HEADER = 2**24  # bytes of a header, at most
APART = 64  # a tensor's bytes begin at a multiple of it
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.complex64, torch.complex128,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip


class Malformed(Exception):
    """A message that is none."""


Read = Callable[[int], bytearray]  # so many bytes of the connection


def message(header: dict[str, Any], tensors: Sequence[Tensor]) -> bytes:
    """Return the bytes of a message."""
    parts, length = [], 0
    for x in tensors:
        raw = flattened(x)
        parts += [raw, bytes(-len(raw) % APART)]
        length += len(raw) + len(parts[-1])
    kinds = [[str(x.dtype).removeprefix("torch."), list(x.shape), str(x.device)] for x in tensors]
    head = json.dumps({**header, "tensors": kinds}, allow_nan=False, separators=(",", ":")).encode()
    return b"".join([LENGTHS.pack(len(head), length), head, *parts])


def flattened(x: Tensor) -> bytes:
    """Return the bytes of a tensor's numbers, by the methods of the base class."""
    with torch._C.DisableTorchFunctionSubclass():
        plain = Tensor.contiguous(Tensor.cpu(Tensor.detach(Tensor.as_subclass(x, Tensor))))
        raw: bytes = Tensor.numpy(Tensor.view(Tensor.reshape(plain, (-1,)), torch.uint8)).tobytes()
    return raw


def received(read: Read, most: int) -> tuple[dict[str, Any], list[Tensor]]:
    """Return the header and the tensors of the next message; its body has at most ``most`` bytes. Raises Malformed."""
    head, length = LENGTHS.unpack(read(LENGTHS.size))
    if head > HEADER or length > most:
        raise Malformed(f"a message of {head} and {length} bytes, want at most {HEADER} and {most}")
    try:
        header = json.loads(read(head), parse_constant=_refused)
    except (ValueError, RecursionError):
        raise Malformed("a header that is no JSON") from None
    if not isinstance(header, dict) or not isinstance(header.get("tensors"), list):
        raise Malformed("a header without a list of tensors")
    return header, _tensors(header.pop("tensors"), read(length))


def _refused(word: str) -> None:
    raise ValueError(word)


def _tensors(kinds: list[Any], body: bytearray) -> list[Tensor]:
    """Return the tensors in a body, on the CPU. Raises Malformed where it is not exactly as long as they are."""
    found, begin = [], 0
    for kind in kinds:
        dtype, shape = _kind(kind, len(body))
        count = math.prod(shape)
        size = count * dtype.itemsize
        if begin + size > len(body):
            raise Malformed("fewer bytes than its tensors have")
        one = torch.frombuffer(body, dtype=dtype, count=count, offset=begin) if count else torch.empty(0, dtype=dtype)
        found.append(one.reshape(shape).clone())  # in memory as any tensor's is: how it is aligned decides roundings
        begin += size + -size % APART
    if begin != len(body):
        raise Malformed("more bytes than its tensors have")
    return found


def _kind(kind: Any, most: int) -> tuple[torch.dtype, tuple[int, ...]]:
    if not isinstance(kind, list) or len(kind) != 3 or not isinstance(kind[0], str) or not isinstance(kind[1], list):
        raise Malformed("a tensor without dtype, shape and device")
    if kind[0] not in DTYPES or len(kind[1]) > 64 or not all(type(n) is int and 0 <= n < 2**40 for n in kind[1]):
        raise Malformed("a tensor of unknown dtype or impossible shape")
    shape = tuple(kind[1])
    if math.prod(shape) > most:
        raise Malformed("fewer bytes than its tensors have")
    return DTYPES[kind[0]], shape


# -- values of a request


def packed(value: Any, tensors: list[Tensor]) -> Any:
    """Return a value as JSON can hold it; its tensors are appended to ``tensors``. Raises TypeError for others."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1, "device": str(value.device)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [packed(x, tensors) for x in value]}
    if isinstance(value, list):
        return [packed(x, tensors) for x in value]
    if isinstance(value, dict):
        return {"dict": [[key, packed(x, tensors)] for key, x in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if is_dataclass(value) and vars(contract).get(type(value).__name__) is type(value):
        return {"config": type(value).__name__, "has": {f.name: packed(getattr(value, f.name), tensors)
                                                        for f in fields(value)}}  # fmt: skip
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def unpacked(value: Any, tensors: Sequence[Tensor]) -> Any:
    """Return the value that ``packed`` made this of."""
    if isinstance(value, list):
        return [unpacked(x, tensors) for x in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]].to(value["device"])
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(unpacked(x, tensors) for x in value["tuple"])
    if "dict" in value:
        return {key: unpacked(x, tensors) for key, x in value["dict"]}
    if "dtype" in value:
        return DTYPES[value["dtype"]]
    return getattr(contract, value["config"])(**{name: unpacked(x, tensors) for name, x in value["has"].items()})
