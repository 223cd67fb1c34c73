"""``bind(module, state)``: run an nn.Module on given weights, with gradients to them, without touching the module.

The module's parameters are replaced for the call, as torch.func.functional_call does, but at a tenth of its cost, which
would be part of every timing. A module that derived tensors from its parameters when it was built
(``self.turned = self.layer.weight.t()``) would not notice the replacement: the weights are written into such a module
in place, and gradients are passed on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from attnconf.spec.nearest import hint

State = Mapping[str, Tensor]

# Key of a module's classes and options (_make) -> whether such modules derive tensors from their parameters when built.
_derives: dict[tuple[Any, ...], bool] = {}


def bind(module: nn.Module, state: State) -> Callable[..., Any]:
    """Return a callable that runs ``module`` with the tensors of ``state`` as its parameters.

    Gradients flow to the inputs and to the tensors of ``state``. Every call sees fresh copies of the buffers, so that
    caches and counters in them do not outlive it. Dtype and device are those of ``state``, also for a module in others
    (on meta, say); only a module that derives tensors from its parameters must be built in the dtype of ``state``.
    Raises ValueError if names or shapes are not those of the module's parameters.
    """
    state = _check(module, state)
    make = _make(module)

    def call(*args: Any, **kwargs: Any) -> Any:
        if make in _derives:
            derives = _derives[make]
        else:
            derives, certain = _compare(module, args, kwargs)
            if certain:
                _derives[make] = derives
        return (_run_in_place if derives else _run)(module, state, args, kwargs)

    return call


def _check(module: nn.Module, state: State) -> State:
    """Return ``state`` with tied parameters under their first name, or raise ValueError."""
    kind = type(module).__name__
    parameters = dict(module.named_parameters(remove_duplicate=False))
    first = {id(parameter): name for name, parameter in module.named_parameters()}
    for name, tensor in state.items():
        if name not in parameters:
            raise ValueError(f"{kind} has no parameter {name!r}{hint(name, parameters)}")
        got, want = tuple(tensor.shape), tuple(parameters[name].shape)
        if got != want:
            raise ValueError(f"{kind}.{name} has shape {want}, but a tensor of shape {got} was given")
    given = {first[id(parameters[name])]: tensor for name, tensor in state.items()}
    missing = [name for name in first.values() if name not in given]
    if missing:
        raise ValueError(f"no tensor was given for {', '.join(missing)} of {kind}")
    empty = [name for name, buffer in module.named_buffers() if buffer.is_meta]
    if empty:
        raise ValueError(f"the buffers {', '.join(empty)} of {kind} have no values on meta: build it on another device")
    return given


def _make(module: nn.Module) -> tuple[Any, ...]:
    """Return a key of the classes, options and shapes in a module; modules with one key treat parameters alike."""
    plain = (bool, int, float, str)
    parts = [(type(m), *((k, v) for k, v in vars(m).items() if isinstance(v, plain))) for m in module.modules()]
    return (*parts, *((name, p.shape, p.dtype, p.device) for name, p in module.named_parameters()))


def _run(module: nn.Module, state: State, args: Any, kwargs: Any) -> Any:
    """Return the module's output with parameters replaced, and with copies of its buffers, converted as by ``to``."""
    like = next(iter(state.values()), None)
    instead: dict[int, Tensor] = {}
    replaced: list[tuple[dict[str, Any], str, Tensor]] = []
    try:
        for kept, name, path, own in list(_tensors(module, "", set())):
            if id(own) not in instead:  # what is tied is one
                instead[id(own)] = state[path] if path in state else _copy(own, own if like is None else like)
            replaced.append((kept, name, own))
            kept[name] = instead[id(own)]
        return module(*args, **kwargs)
    finally:
        for kept, name, own in replaced:
            kept[name] = own


def _tensors(module: nn.Module, prefix: str, seen: set[int]) -> Iterator[tuple[dict[str, Any], str, str, Tensor]]:
    """Yield (owner, name, path, tensor) for each parameter and buffer, in the module's order."""
    seen.add(id(module))
    for kept in (module._parameters, module._buffers):
        for name, own in kept.items():
            if own is not None:
                yield kept, name, prefix + name, own
    for name, part in module._modules.items():
        if part is not None and id(part) not in seen:
            yield from _tensors(part, f"{prefix}{name}.", seen)


def _copy(x: Tensor, like: Tensor) -> Tensor:
    return x.detach().to(like.device, like.dtype if x.is_floating_point() else x.dtype, copy=True)


def _compare(module: nn.Module, args: Any, kwargs: Any) -> tuple[bool, bool]:
    """Return (whether parameters written in place give other outputs than replaced ones, whether that is certain).

    The module runs on made-up parameters, without dropout, without a trace, and unseen by counters of operations.
    "Nothing is derived" is certain once every replaced parameter is in the outputs' graph (a key bias is, though it has
    no effect). Until then a later call may tell more, as this one may have a single key. A module that fails here has
    its parameters replaced, and fails again for the caller to see.
    """
    own = dict(module.named_parameters())
    if not own or any(p.is_meta for p in own.values()):
        return False, True
    try:
        with torch.inference_mode(False), torch.enable_grad(), no_dispatch(), _without_a_trace(module):
            made_up = _made_up(own)
            args, kwargs = _copies((args, kwargs), next(iter(own.values())))
            replaced = _try(module, made_up, args, kwargs)
            for name, parameter in own.items():
                parameter.data.copy_(made_up[name].detach())
            written = [x.clone() for x in _try(module, own, args, kwargs)]  # views are restored with their parameters
    except Exception:
        return False, False
    derives = not all(map(_same, replaced, written))
    return derives, derives or {id(x) for x in made_up.values()} <= _leaves(replaced)


def _made_up(own: State) -> State:
    numbers = torch.Generator().manual_seed(0)
    return {name: torch.randn(p.shape, generator=numbers).to(p).requires_grad_() for name, p in own.items()}


def _copies(tree: Any, like: Tensor) -> Any:
    """Return the tree with copies of its tensors, in the dtype and on the device of ``like``; one object stays one."""
    tensors = {id(x): _copy(x, like) for x in tree_leaves(tree) if isinstance(x, Tensor)}
    return tree_map(lambda x: tensors.get(id(x), x), tree)


@contextmanager
def _without_a_trace(module: nn.Module) -> Iterator[None]:
    """Switch to evaluation; restore parameters, modes, attributes, and the contents of containers afterwards."""
    plain = (dict, list, set)
    attributes = [(m, {k: v.copy() if type(v) in plain else v for k, v in vars(m).items()}) for m in module.modules()]
    values = [(parameter, parameter.detach().clone()) for parameter in module.parameters()]
    for m, _ in attributes:
        m.training = False
    try:
        yield
    finally:
        for m, before in attributes:
            vars(m).clear()
            vars(m).update(before)
        for parameter, value in values:
            parameter.data.copy_(value)


def _try(module: nn.Module, state: State, args: Any, kwargs: Any) -> list[Tensor]:
    """Return the tensors among the outputs. The next try draws the same random numbers."""
    with torch.random.fork_rng(sorted({x.device.index for x in state.values() if x.is_cuda})):
        return [x for x in tree_leaves(_run(module, state, args, kwargs)) if isinstance(x, Tensor)]


def _same(a: Tensor, b: Tensor) -> bool:
    tolerance = 64 * torch.finfo(a.dtype).eps if a.is_floating_point() else 0.0
    return a.shape == b.shape and torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def _leaves(outputs: list[Tensor]) -> set[int]:
    """Return the ids of the leaves of the outputs' graph."""
    seen: set[Any] = set()
    nodes: list[Any] = [x.grad_fn for x in outputs]
    while nodes:
        node = nodes.pop()
        if node is not None and node not in seen:
            seen.add(node)
            nodes += [before for before, _ in node.next_functions]
    return {id(node.variable) for node in seen if hasattr(node, "variable")}


def _run_in_place(module: nn.Module, state: State, args: Any, kwargs: Any) -> Any:
    own = dict(module.named_parameters())
    _write(module, own, state)
    if not torch.is_grad_enabled():
        return _run(module, own, args, kwargs)
    inputs = list({id(x): x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}.values())
    form: Any = None

    def run(*leaves: Tensor) -> list[Any]:
        nonlocal form
        leaf = {id(x): y for x, y in zip(inputs, leaves, strict=True)}
        returned = _run(module, own, *tree_map(lambda x: leaf.get(id(x), x), (args, kwargs)))
        flat, form = tree_flatten(returned)
        return flat

    flat = _Bridge.apply(run, [own[name] for name in state], *state.values(), *inputs)  # type: ignore[no-untyped-call]  # torch gives it no type
    return tree_unflatten(flat, form)


def _write(module: nn.Module, own: State, state: State) -> None:
    """Write weights where they differ, so that the graph of an earlier call with the same weights stays valid."""
    for name, x in state.items():
        if (own[name].dtype, own[name].device) != (x.dtype, x.device):
            raise ValueError(
                f"{type(module).__name__} derives tensors from its parameters when it is built, in "
                f"{own[name].dtype} on {own[name].device}: build it in {x.dtype} on {x.device}"
            )
        if not torch.equal(own[name], x):
            with torch.no_grad():
                own[name].copy_(x)


class _Bridge(torch.autograd.Function):
    """``run(*inputs)``; gradients with respect to the module's own parameters become gradients of the given tensors."""

    @staticmethod
    def forward(ctx: Any, run: Callable[..., list[Any]], own: list[Tensor], *given: Tensor) -> Any:
        inputs = [x.detach().requires_grad_(x.requires_grad) for x in given[len(own) :]]
        with torch.enable_grad():
            ctx.returned = run(*inputs)
        ctx.leaves = [*own, *inputs]
        outputs = [x.detach() if isinstance(x, Tensor) else x for x in ctx.returned]
        ctx.carries = [isinstance(x, Tensor) and x.requires_grad for x in ctx.returned]
        cut = [x for x, carries in zip(outputs, ctx.carries, strict=True) if isinstance(x, Tensor) and not carries]
        ctx.mark_non_differentiable(*cut)
        return tuple(outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Any) -> Any:
        with torch.enable_grad():
            pairs = zip(ctx.returned, slopes, ctx.carries, strict=True)
            loss = torch.stack([(x * slope).sum() for x, slope, carries in pairs if carries]).sum()
        wanted = [x for x in ctx.leaves if x.requires_grad]
        grads = iter(torch.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True))
        return None, None, *(next(grads) if x.requires_grad else None for x in ctx.leaves)
