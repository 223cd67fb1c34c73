"""``bind(module, state)``: run an nn.Module on given weights, with gradients to them, without touching the module.

The module's parameters are swapped for the call (torch.func.functional_call). A module that computed tensors from its
parameters when it was built would not notice; for such a one the weights are written in place instead.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

State = Mapping[str, Tensor]

# What is known of a class of modules: names that were seen to take effect when swapped, those that only take effect
# when written in place, and how often each was tried (a key bias has no effect at all, which is no mistake).
_effective: set[tuple[type, str]] = set()
_derived: set[type] = set()
_tries: Counter[tuple[type, str]] = Counter()
_MOST_TRIES = 3


def bind(module: nn.Module, state: State) -> Callable[..., Any]:
    """Return a callable that runs ``module`` with the tensors of ``state`` as its parameters.

    Gradients flow to the inputs and to the tensors of ``state``. Buffers are cloned for every call, so that caches and
    counters do not outlive it.
    Raises ValueError where names or shapes are not those of the module's parameters.
    """
    _check(module, state)

    def call(*args: Any, **kwargs: Any) -> Any:
        if _writes_in_place(module, state, args, kwargs):
            return _in_place(module, state, args, kwargs)
        return _swapped(module, state, args, kwargs)

    return call


def _check(module: nn.Module, state: State) -> None:
    parameters = dict(module.named_parameters())
    for name, tensor in state.items():
        if name not in parameters:
            close = difflib.get_close_matches(name, parameters, n=1)
            hint = f"; nearest: {close[0]}" if close else ""
            raise ValueError(f"{type(module).__name__} has no parameter {name!r}{hint}")
        if tensor.shape != parameters[name].shape:
            got, want = tuple(tensor.shape), tuple(parameters[name].shape)
            raise ValueError(f"{type(module).__name__}.{name} has shape {want}, but a tensor of shape {got} was given")
    missing = [name for name in parameters if name not in state]
    if missing:
        raise ValueError(f"no tensor was given for {', '.join(missing)} of {type(module).__name__}")


def _swapped(module: nn.Module, state: State, args: Any, kwargs: Any) -> Any:
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    return functional_call(module, {**state, **buffers}, args, kwargs)


def _writes_in_place(module: nn.Module, state: State, args: Any, kwargs: Any) -> bool:
    """Return whether some tensor of ``state`` only takes effect when it is written into the module."""
    kind = type(module)
    if kind in _derived:
        return True
    untested = [n for n in state if (kind, n) not in _effective and _tries[kind, n] < _MOST_TRIES]
    if not untested or any(p.is_meta for p in module.parameters()):
        return False
    with _quietly(module), torch.no_grad():
        plain = _tensors(_swapped(module, state, args, kwargs))
        for name in untested:
            _tries[kind, name] += 1
            other = {**state, name: state[name].detach() + _ramp(state[name])}
            if _differ(plain, _tensors(_swapped(module, other, args, kwargs))):
                _effective.add((kind, name))
            elif _differ(_written(module, state, args, kwargs), _written(module, other, args, kwargs)):
                _derived.add(kind)
                return True
    return False


def _ramp(x: Tensor) -> Tensor:
    """Return what is added to a tensor to see whether it matters: different for every element."""
    return torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype, device=x.device).reshape(x.shape)


@contextmanager
def _quietly(module: nn.Module) -> Iterator[None]:
    """Evaluate without dropout, and leave every sub-module in the mode it was in."""
    modes = [(m, m.training) for m in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for m, training in modes:
            m.training = training


def _tensors(returned: Any) -> list[Tensor]:
    items = returned if isinstance(returned, tuple | list) else [returned]
    return [x.detach() for x in items if isinstance(x, Tensor)]


def _differ(one: list[Tensor], other: list[Tensor]) -> bool:
    return any(not torch.equal(a, b) for a, b in zip(one, other, strict=True))


def _write(module: nn.Module, state: State) -> list[Tensor]:
    parameters = dict(module.named_parameters())
    with torch.no_grad():
        for name, tensor in state.items():
            if parameters[name].dtype != tensor.dtype:
                raise ValueError(f"{name} is {parameters[name].dtype} in the module: build it in {tensor.dtype}")
            parameters[name].copy_(tensor)
    return [parameters[name] for name in state]


def _written(module: nn.Module, state: State, args: Any, kwargs: Any) -> list[Tensor]:
    _write(module, state)
    return _tensors(module(*args, **kwargs))


class _Graft(torch.autograd.Function):
    """The identity on an output; in the backward pass, the gradients of the module's own parameters go to ``state``."""

    @staticmethod
    def forward(ctx: Any, out: Tensor, run: tuple[Tensor, list[Tensor]], *state: Tensor) -> Tensor:
        ctx.run = run
        return out.view_as(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        out, parameters = ctx.run
        with torch.enable_grad():
            scalar = (out * grad).sum()
        slopes = torch.autograd.grad(scalar, parameters, retain_graph=True, allow_unused=True)
        return grad, None, *slopes


def _in_place(module: nn.Module, state: State, args: Any, kwargs: Any) -> Any:
    parameters = _write(module, state)
    returned = module(*args, **kwargs)
    if not torch.is_grad_enabled():
        return returned

    def graft(x: Any) -> Any:
        if not (isinstance(x, Tensor) and x.requires_grad):
            return x
        return _Graft.apply(x, (x, parameters), *state.values())  # type: ignore[no-untyped-call] # torch has none

    return type(returned)(map(graft, returned)) if isinstance(returned, tuple | list) else graft(returned)
