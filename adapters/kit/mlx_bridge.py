"""``through_mlx(function, config)``: a function of MLX arrays as one of tensors, gradients included, on the CPU."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import torch
import torch.utils.dlpack
from mlx.utils import tree_flatten, tree_unflatten
from torch import Tensor
from torch.autograd.function import once_differentiable

mx.set_default_device(mx.cpu)
mx.disable_compile()  # its activations would be compiled at each new shape, by a C++ compiler that must be there

DTYPES = {  # of numbers in float64 they make float32 unless told otherwise
    torch.float64: mx.float64, torch.float32: mx.float32, torch.float16: mx.float16, torch.bfloat16: mx.bfloat16,
    torch.int64: mx.int64, torch.int32: mx.int32, torch.bool: mx.bool_,
}  # fmt: skip


def through_mlx(function: Callable[..., Any], config: Any) -> Callable[..., Any]:
    """Return ``function(config, …)`` for tensors, or dicts of them, or None; it returns an array.

    Numbers keep their dtype, float64 included.
    """

    def call(*args: Any) -> Any:
        pairs = tree_flatten(list(args))
        names = [name for name, x in pairs if isinstance(x, Tensor)]
        rest = [(name, x) for name, x in pairs if not isinstance(x, Tensor)]

        def run(arrays: list[Any]) -> Any:
            return function(config, *tree_unflatten([*zip(names, arrays, strict=True), *rest]))

        return _Bridge.apply(run, *(x for _, x in pairs if isinstance(x, Tensor)))  # type: ignore[no-untyped-call]  # torch gives it no type

    return call


def _to_mlx(x: Tensor) -> Any:
    if x.device.type != "cpu":
        raise NotImplementedError("devices other than the CPU")
    return mx.array(x.detach().contiguous(), dtype=DTYPES[x.dtype])


def _to_torch(x: Any) -> Tensor:
    mx.eval(x)
    return torch.utils.dlpack.from_dlpack(x).clone()


class _Bridge(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, run: Callable[[list[Any]], Any], *given: Tensor) -> Any:
        ctx.run, ctx.floating = run, [x.is_floating_point() for x in given]
        ctx.arrays = [_to_mlx(x) for x in given]
        return _to_torch(run(ctx.arrays))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> Any:
        def run(*numbers: Any) -> list[Any]:
            those = iter(numbers)
            pairs = zip(ctx.arrays, ctx.floating, strict=True)
            return [ctx.run([next(those) if floating else x for x, floating in pairs])]

        numbers = [x for x, floating in zip(ctx.arrays, ctx.floating, strict=True) if floating]
        grads = iter(mx.vjp(run, numbers, [_to_mlx(slope)])[1])
        return None, *(_to_torch(next(grads)) if floating else None for floating in ctx.floating)
