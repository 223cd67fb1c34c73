"""The cost of a call without a clock: memory, operations, FLOPs. The numbers are the same on every machine.

Operations are counted where PyTorch dispatches them. Memory that a kernel allocates and frees itself is not seen.
"""

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MethodType
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True)
class PassCost:
    """The cost of one pass.

    peak_bytes   the most bytes alive at one time in tensors that the call made
    operations   how often each operation was dispatched that computes or copies; views do not count
    flops        2 for each multiplication and addition in matrix products and attention kernels, 0 elsewhere
    """

    peak_bytes: int
    flops: int
    operations: Mapping[str, int]


@dataclass(frozen=True)
class Counts:
    """The cost of a call; ``backward`` where gradients were asked for, its memory including what forward kept."""

    forward: PassCost
    backward: PassCost | None = None


class Counting(TorchDispatchMode):
    """Counts operations while it is entered, any number of times. ``handed``: the tensors given to the call."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: protection from torch.compile would import it, which takes 1 s, where nobody compiles."""
        return False

    def __init__(self, handed: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch gives it no type
        self._sizes: dict[int, int] = {}  # bytes by storage, 0 for storages older than the call
        self._derived: set[int] = set()  # storages that hold something computed from what was handed over
        self._live = self._peak = self._flops = 0
        self._operations: Counter[str] = Counter()
        for x in handed:
            self._derived.add(self._hold(x, made=False))

    def __enter__(self) -> Self:
        if "torch._dynamo" in sys.modules:  # here somebody may, and would compile what counts
            self.__dict__["__torch_dispatch__"] = MethodType(
                torch.compiler.disable(type(self).__torch_dispatch__), self
            )
        super().__enter__()  # type: ignore[no-untyped-call]  # likewise
        return self

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        taken = [] if function is torch.ops.aten.lift_fresh.default else _tensors((args, kwargs))
        before = [self._hold(x, made=False) for x in taken]
        returned = function(*args, **kwargs)
        known = set(self._sizes)
        given = [self._hold(x, made=True) for x in _tensors(returned)]
        if not self._derived.isdisjoint(before):
            self._derived.update(given)
        if not given or not known.issuperset(given) or function._schema.is_mutable:
            self._operations[str(function._overloadpacket)] += 1
            count = _formulas().get(function._overloadpacket)
            self._flops += count(*args, **kwargs, out_val=returned) if count else 0
        return returned

    def take(self) -> PassCost:
        """Return the cost since the last ``take``. Memory that is still alive stays counted."""
        work = PassCost(self._peak, self._flops, dict(self._operations))
        self._peak, self._flops = self._live, 0
        self._operations.clear()
        return work

    def saw(self, x: Tensor) -> bool:
        """Return whether counted operations computed a tensor from the tensors that were handed over."""
        return x.untyped_storage()._cdata in self._derived

    def _hold(self, x: Tensor, made: bool) -> int:
        """Return the key of a tensor's storage, and count the storage once for as long as it lives."""
        storage = x.untyped_storage()
        key = storage._cdata
        if key not in self._sizes:
            weakref.finalize(storage, self._release, key).atexit = False
            self._sizes[key] = storage.nbytes() if made else 0
            self._live += self._sizes[key]
            self._peak = max(self._peak, self._live)
        return key

    def _release(self, key: int) -> None:
        self._live -= self._sizes.pop(key)
        self._derived.discard(key)


def _tensors(tree: Any) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor) and x.layout == torch.strided]


# -- FLOPs


@cache
def _formulas() -> dict[Any, Callable[..., int]]:
    """Return the FLOP formulas by operation: PyTorch's, and ours where it has none."""
    from torch.utils.flop_counter import flop_registry

    aten = torch.ops.aten
    on_cpu, on_cuda = "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention"
    return {
        getattr(aten, on_cpu): flop_registry[getattr(aten, on_cuda)],
        getattr(aten, f"{on_cpu}_backward"): flop_registry[getattr(aten, f"{on_cuda}_backward")],
        aten._native_multi_head_attention: _fast_multi_head,
        aten._transformer_encoder_layer_fwd: _fast_layer,
        **flop_registry,
    }


def _fast_multi_head(
    query: Tensor, key: Tensor, value: Tensor, width: int, heads: int, qkv: Tensor, bias: Tensor, out: Tensor,
    *rest: Any, **options: Any,
) -> int:  # fmt: skip
    tokens = query.shape[:2].numel()
    return 2 * tokens * (qkv.numel() + out.numel()) + 4 * tokens * key.shape[1] * width


def _fast_layer(
    x: Tensor, width: int, heads: int, qkv: Tensor, bias: Tensor, out: Tensor, out_bias: Tensor, gelu: bool,
    norm_first: bool, eps: float, gain1: Tensor, shift1: Tensor, gain2: Tensor, shift2: Tensor, up: Tensor,
    up_bias: Tensor, down: Tensor, *rest: Any, **options: Any,
) -> int:  # fmt: skip
    attention = _fast_multi_head(x, x, x, width, heads, qkv, bias, out)
    return attention + 2 * x.shape[:2].numel() * (up.numel() + down.numel())
