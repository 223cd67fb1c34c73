"""What happens when a module is called: which parameter is used when, what its parts are called with, what is computed.

Names are not needed for this: a mode of torch sees every function that is given a parameter, and NumPy's functions
tell the arrays that they are given.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from attnconf.conformance.inference.texts.layer_scales import VIEWS, multiplied, normalizing

_LIKE = ("to", "type_as", "expand_as", "view_as", "reshape_as")  # of whose arguments only the first is computed with
SMALL = 0.01
_VIEWS = ("T", "mT", "H", "mH")
_LENT = ("detach", "numpy")
_ASKS = ("__get__", "is_floating_point")


@dataclass
class Trace:
    """``order``: the parameters in the order of their first use, those that are not used after their neighbours."""

    order: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)  # names of torch's functions, as called
    eps: list[float] = field(default_factory=list)  # of torch's own norms, and small numbers that are added
    factors: list[str] = field(default_factory=list)  # parameters that multiply what no norm has made
    calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)  # of sub-modules, the first


class _Watch(TorchFunctionMode):
    def __init__(self, names: Mapping[int, str], trace: Trace):
        super().__init__()
        self.names, self.trace, self.first = dict(names), trace, dict[str, int]()
        self.kept: list[Tensor] = []
        self.products: dict[int, str] = {}  # what was multiplied by a parameter

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _LENT and isinstance(args[0], Tensor) and id(args[0]) in self.names:
            return self._lent(self.names[id(args[0])], func(*args, **kwargs))
        owner = getattr(getattr(func, "__self__", None), "__name__", "")
        if name not in _ASKS or owner in _VIEWS:
            self.trace.functions.append(_told(name, kwargs))
            read = args[:1] if name in _LIKE else (args, kwargs)
            for x in tree_leaves(read):
                if isinstance(x, Tensor) and id(x) in self.names:
                    self.first.setdefault(self.names[id(x)], len(self.first))
            if name in ("layer_norm", "rms_norm"):
                given = kwargs.get("eps", args[-1] if args and isinstance(args[-1], float) else None)
                self.trace.eps += [given] if given is not None else []
            elif "add" in name:
                self.trace.eps += [x for x in args if isinstance(x, float) and 0 < x < SMALL]
        if gain := normalizing(name, args, self.products):
            self.trace.factors = [factor for factor in self.trace.factors if factor != gain]
        factor, result = multiplied(name, args, self.names), func(*args, **kwargs)
        if factor and isinstance(result, Tensor):
            self.trace.factors.append(factor)
            self.products[id(result)] = factor
            self.kept.append(result)
        return self._named_alike(result, args[0] if args and name in VIEWS else None)

    def _named_alike(self, result: Any, parameter: Any) -> Any:
        """Return a result, which is known by the name of the parameter that it is another view of."""
        if isinstance(result, Tensor) and id(parameter) in self.names:
            self.names.setdefault(id(result), self.names[id(parameter)])
            self.kept.append(result)
        return result

    def _lent(self, name: str, x: Any) -> Any:
        """Return what a parameter is for NumPy, such that its use is noted there: to be an array is none."""
        if isinstance(x, Tensor):
            self.names[id(x)] = name
            self.kept.append(x)  # whose id is no other's
            return x
        array = x.view(_Noted)
        array.noted = lambda: self.first.setdefault(name, len(self.first))
        return array


class _Noted(np.ndarray[Any, Any]):
    """An array, or a view of it, that tells when a function of NumPy is given it."""

    noted: Callable[[], Any] | None = None

    def __array_finalize__(self, of: Any) -> None:
        self.noted = getattr(of, "noted", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_plain(args), **_plain(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_plain(args), **_plain(kwargs))


def _plain(given: Any) -> Any:
    """Return what a function is given with its arrays as they are, after each was told of it."""
    if isinstance(given, _Noted):
        if given.noted is not None:
            given.noted()
        return given.view(np.ndarray)
    if isinstance(given, dict):
        return {name: _plain(x) for name, x in given.items()}
    return type(given)(map(_plain, given)) if type(given) in (tuple, list) else given


def _told(name: str, kwargs: Mapping[str, Any]) -> str:
    return f"{name}-{kwargs['approximate']}" if kwargs.get("approximate") == "tanh" else name


def traced(module: nn.Module, parameters: Mapping[str, Tensor], call: Callable[[Mapping[str, Tensor]], Any]) -> Trace:
    """Return the trace of ``call``, which calls ``module`` with the parameters that it is given. Raises Failed."""
    trace = Trace()
    leaves = {name: p.detach().clone() for name, p in parameters.items()}  # some code writes in place: no gradients
    watch = _Watch({id(x): name for name, x in leaves.items()}, trace)
    hooks = [
        part.register_forward_pre_hook(_keeper(name, trace), with_kwargs=True) for name, part in module.named_modules()
    ]
    try:
        with watch:
            call(leaves)
    finally:
        for hook in hooks:
            hook.remove()
    trace.used = set(watch.first)
    trace.order = _with_unused(list(parameters), watch.first)
    trace.eps += [eps for part in module.modules() if isinstance(eps := getattr(part, "eps", None), float)]
    return trace


def _keeper(name: str, trace: Trace) -> Any:
    def keep(module: nn.Module, args: Any, kwargs: Any) -> None:
        if name not in trace.calls:
            trace.calls[name] = copied((args, kwargs))

    return keep


def copied(given: Any) -> Any:
    """Return arguments as they are now, before the code writes to them; what is one tensor stays one."""
    seen: dict[int, Tensor] = {}

    def copy(x: Any) -> Any:
        return seen.setdefault(id(x), x.detach().clone()) if isinstance(x, Tensor) else x

    return tree_map(copy, given)


def _with_unused(defined: list[str], first: Mapping[str, int]) -> list[str]:
    """Return all names in the order of use; what is not used comes after the one that is defined before it."""
    at: dict[str, float] = dict(first)
    last = -1.0
    for i, name in enumerate(defined):
        if name not in at:
            at[name] = last + (i + 1) * 1e-6
        last = float(int(at[name]))
    return sorted(at, key=lambda name: at[name])


ACTIVATED = {
    **dict.fromkeys(("relu", "relu_", "clamp", "clamp_min", "maximum"), "relu"),
    **dict.fromkeys(("gelu", "erf"), "gelu"),
    **dict.fromkeys(("gelu-tanh", "tanh"), "gelu-tanh"),
    **dict.fromkeys(("silu", "sigmoid"), "silu"),
}


def activations(trace: Trace) -> Iterator[str]:
    """Yield the activations, those first that were seen."""
    seen = [ACTIVATED[f] for f in trace.functions if f in ACTIVATED]
    yield from dict.fromkeys([*seen, "relu", "gelu", "gelu-tanh", "silu"])
