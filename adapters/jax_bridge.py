"""``through_jax(function)``: a function of JAX arrays as one of tensors, gradients included, on the CPU."""

from collections.abc import Callable
from typing import Any

import jax
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils._pytree import tree_flatten, tree_unflatten


def through_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` as one that takes and returns tensors, alone or in tuples, lists and dicts.

    What is no tensor is handed over as it is. Numbers keep their dtype, float64 included; random numbers depend on
    torch's seed where the function takes them from ``random_key``.
    """

    def call(*args: Any) -> Any:
        leaves, form = tree_flatten(args)
        places = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
        result: Any = None

        def run(*arrays: Any) -> list[Any]:
            nonlocal result
            filled = list(leaves)
            for i, array in zip(places, arrays, strict=True):
                filled[i] = array
            outputs, result = tree_flatten(function(*tree_unflatten(filled, form)))
            return outputs

        outputs = _Bridge.apply(run, *(leaves[i] for i in places))  # type: ignore[no-untyped-call]  # torch gives it no type
        return tree_unflatten(list(outputs), result)

    return call


def random_key() -> Any:
    """Return a key that torch's generator determines."""
    return jax.random.key(int(torch.randint(2**31, ())))


def _to_jax(x: Tensor) -> Any:
    if x.device.type != "cpu":
        raise NotImplementedError("devices other than the CPU")
    return jax.dlpack.from_dlpack(x.detach().clone(memory_format=torch.contiguous_format))


def _to_torch(x: Any) -> Tensor:
    return torch.from_dlpack(x).clone()


class _Bridge(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, run: Callable[..., list[Any]], *given: Tensor) -> Any:
        ctx.wanted = [x.requires_grad for x in given]
        with jax.enable_x64(True):
            arrays = [_to_jax(x) for x in given]
            if any(ctx.wanted):
                outputs, ctx.pull = jax.vjp(run, *arrays)
            else:
                outputs = run(*arrays)
            return tuple(_to_torch(x) for x in outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        with jax.enable_x64(True):
            grads = ctx.pull([_to_jax(slope) for slope in slopes])
            wanted = zip(grads, ctx.wanted, strict=True)
            return None, *(_to_torch(grad) if want else None for grad, want in wanted)
