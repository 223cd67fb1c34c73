"""``through_jax(function, config)``: a function of JAX arrays as one of tensors, gradients included, on the CPU."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import torch
import torch.utils.dlpack
from torch import Tensor
from torch.autograd.function import once_differentiable

QUICK = {  # compiling takes most of the time if every shape comes once
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def through_jax(function: Callable[..., Any], config: Any) -> Callable[..., Any]:
    """Return ``function(config, …)`` for tensors, or dicts of them, or None; it returns an array, or a tuple of these.

    Numbers keep their dtype, float64 included. Compiled code is kept by function, configuration and shapes, so the
    function must be defined once, not anew for each configuration.
    """
    forward, pull = _compiled(function, config)

    def call(*args: Any) -> Any:
        leaves, form = jax.tree.flatten(args)
        outputs = _Bridge.apply(forward, pull, form, *leaves)  # type: ignore[no-untyped-call]  # torch gives it no type
        return outputs[0] if len(outputs) == 1 else outputs

    return call


@cache
def _compiled(function: Callable[..., Any], config: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return (the function with a tuple as result, the function that pulls gradients back to its floating inputs)."""

    def forward(*args: Any) -> tuple[Any, ...]:
        outputs = function(config, *args)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def pull(args: Any, slopes: tuple[Any, ...]) -> list[Any]:
        leaves, form = jax.tree.flatten(args)
        floating = [i for i, x in enumerate(leaves) if jnp.issubdtype(x.dtype, jnp.floating)]

        def run(*numbers: Any) -> Any:
            filled = list(leaves)
            for i, x in zip(floating, numbers, strict=True):
                filled[i] = x
            return forward(*jax.tree.unflatten(form, filled))

        pulled: list[Any] = jax.vjp(run, *(leaves[i] for i in floating))[1](slopes)
        return pulled

    return jax.jit(forward, compiler_options=QUICK), jax.jit(pull, compiler_options=QUICK)


def _to_jax(x: Tensor) -> Any:
    if x.device.type != "cpu":
        raise NotImplementedError("devices other than the CPU")
    return jax.dlpack.from_dlpack(x.detach().clone(memory_format=torch.contiguous_format))


def _to_torch(x: Any) -> Tensor:
    return torch.utils.dlpack.from_dlpack(x).clone()


class _Bridge(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Callable[..., Any], pull: Callable[..., Any], form: Any, *given: Tensor) -> Any:
        ctx.pull, ctx.floating = pull, [x.is_floating_point() for x in given]
        with jax.enable_x64(True):
            ctx.args = jax.tree.unflatten(form, [_to_jax(x) for x in given])
            return tuple(_to_torch(x) for x in forward(*ctx.args))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        with jax.enable_x64(True):
            grads = iter(ctx.pull(ctx.args, tuple(_to_jax(slope) for slope in slopes)))
            return None, None, None, *(_to_torch(next(grads)) if floating else None for floating in ctx.floating)
