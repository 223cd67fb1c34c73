"""A user's definitions, and objects and modules of theirs made ready: built, woken, their parts replaced."""

import contextlib
import re
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.stacked_parameters import Layered
from attnconf.adapters.generated.vector_input import Handed


def definitions(path: str) -> ModuleType:
    """Return the module that a .py file or a notebook defines; its top-level work is not run."""
    from attnconf.conformance.source.reader import read  # needs nothing else of ours

    return read(Path(path)).module


SEEDS = [0]  # the last one is of the random numbers with which modules are built


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Build modules with other random numbers: what they keep of their own differs then."""
    SEEDS.append(seed)
    try:
        yield
    finally:
        SEEDS.pop()


def settle(module: Any, config: Any, weights: Any = None) -> Any:
    """Return a module in the mode, dtype and device of a configuration and its weights.

    A function that builds the module is called with the same random numbers each time, as the module may keep some of
    its own parameters. A built object that is no module is returned as it is.
    """
    if not isinstance(module, nn.Module):
        state = torch.get_rng_state()
        torch.default_generator.manual_seed(SEEDS[-1])  # torch.manual_seed formats the stack
        try:
            module = _made(module)
        finally:
            torch.set_rng_state(state)
    if not isinstance(module, nn.Module):
        return module
    like = next(iter((weights or {}).values()), None)
    device = config.device if like is None and hasattr(config, "device") else getattr(like, "device", None)
    dtype = config.dtype if like is None and hasattr(config, "dtype") else getattr(like, "dtype", None)
    module = module.train(getattr(config, "training", False))
    if dtype is None or not any(b.is_complex() for b in module.buffers()):  # of those .to keeps the real part alone
        return module.to(device, dtype)
    return module.to(device)._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)


def anew(begin: Callable[[], Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call of an object that goes on with those before, such that each begins a sequence."""

    def begun(*args: Any, **kwargs: Any) -> Any:
        begin()
        return call(*args, **kwargs)

    return begun


def untrained(call: Callable[..., Any], weights: dict[str, Tensor]) -> Callable[..., Any]:
    """Return a call that refuses gradients with respect to its inputs or weights, as it gives none."""

    def refusing(*args: Any, **kwargs: Any) -> Any:
        if any(torch.is_tensor(x) and x.requires_grad for x in (*args, *kwargs.values(), *weights.values())):
            raise NotImplementedError("gradients: it is for inference")
        return call(*args, **kwargs)

    return refusing


def _made(build: Callable[[], Any]) -> Any:
    """Return what is built; in float32 where it makes some of its numbers in that whatever the default is."""
    default = torch.get_default_dtype()
    try:
        return build()
    except RuntimeError as error:
        if default != torch.float64 or not {"Double", "Float"} <= set(str(error).split()):
            raise
    torch.set_default_dtype(torch.float32)
    try:
        return build()
    finally:
        torch.set_default_dtype(default)


def awake(module: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
    """Return the module after a first call, in which its lazy layers get their sizes."""
    with torch.no_grad():
        module(*args, **kwargs)
    return module


def dropping(module: nn.Module, p: float) -> nn.Module:
    """Return a module with this probability of dropout, for a class whose constructor takes none."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = p
        elif isinstance(part, nn.MultiheadAttention):
            part.dropout = p
    return module


def unpadded(module: nn.Module) -> nn.Module:
    """Return a module that was told that id -1 is padding, so that none is: a table takes -1 for its last row."""
    for part in module.modules():
        if isinstance(part, nn.Embedding) and part.padding_idx == part.num_embeddings - 1:
            part.padding_idx = None
    return module


def handed(
    module: nn.Module, ids: dict[str, str], out: str = "", turned: bool = False,
    raw: int | tuple[int, ...] = 0, back: bool = False,
) -> nn.Module:  # fmt: skip
    """Return a model that takes ids as one that takes vectors: see vector_input.Handed."""
    return Handed(module, ids, out, turned, raw, back)


def layered(module: nn.Module, order: list[str]) -> nn.Module:
    """Return a stack whose parameters hold all layers, with parameters for each: see stacked_parameters.Layered."""
    return Layered(module, order)


def without(module: nn.Module, *names: str) -> nn.Module:
    """Return the module with the named sub-modules, norms inside attention, replaced by the identity."""
    for name in names:
        *above, last = name.split(".")
        setattr(module.get_submodule(".".join(above)), last, nn.Identity())
    return module


def with_eps(module: nn.Module, eps: float, *names: str) -> nn.Module:
    """Return the module with another ε in the named sub-modules, norms that have it as an attribute.

    "layers.*.q_norm" names that of each layer.
    """
    for part in _named(module, names):
        for name in ("eps", "epsilon", "variance_epsilon"):
            if hasattr(part, name):
                setattr(part, name, eps)
    return module


def _named(module: nn.Module, names: tuple[str, ...]) -> list[nn.Module]:
    """Return the sub-modules of these names, in which a star stands for a number."""
    wanted = "|".join(re.escape(name).replace(r"\*", r"\d+") for name in names)
    return [part for name, part in module.named_modules() if re.fullmatch(wanted, name)]


class _InSingle:
    """Gives a part its parameters in float32 while it is called."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    def before(self, part: nn.Module, args: Any) -> None:
        self.kept.append(dict(part._parameters))
        part._parameters.update({name: p if p is None else p.float() for name, p in self.kept[-1].items()})

    def after(self, part: nn.Module, args: Any, out: Any) -> None:
        part._parameters.update(self.kept.pop())


def in_single(module: nn.Module, *names: str) -> nn.Module:
    """Return the module with the named sub-modules given their parameters in float32, in which alone they compute.

    "layers.*.norm" names that of each layer. Their inputs and outputs are of any dtype: that is how models in half
    precision keep their norms.
    """
    for part in _named(module, names):
        held = _InSingle()
        part.register_forward_pre_hook(held.before)
        part.register_forward_hook(held.after, always_call=True)
    return module


def registered(module: nn.Module) -> nn.Module:
    """Return a module after registering the modules in its plain lists, tuples and dicts, and its loose tensors.

    The parameters of these modules are frozen, as an optimizer would not find them in the user's module.
    """
    for part, name, kept in list(loose(module)):
        delattr(part, name)
        part.register_parameter(name, nn.Parameter(kept.detach()))
    for part in list(module.modules()):
        for name, kept in list(vars(part).items()):
            listed = list(kept.values()) if type(kept) is dict else kept
            if name.startswith("_") or not isinstance(listed, list | tuple) or not listed:
                continue
            if all(isinstance(one, nn.Module) for one in listed):
                known = {id(p) for p in module.parameters()}
                own = nn.ModuleDict(kept) if type(kept) is dict else nn.ModuleList(listed)
                setattr(part, name, own)
                for parameter in own.parameters():
                    parameter.requires_grad_(id(parameter) in known and parameter.requires_grad)
    return module


def loose(module: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Yield the tensors that want gradients and are no parameters: (part of the module, name there, tensor)."""
    for part in module.modules():
        for name, kept in vars(part).items():
            if isinstance(kept, Tensor) and kept.is_leaf and kept.requires_grad:
                yield part, name, kept


def holding(thing: Any, tensors: dict[str, Tensor]) -> Any:
    """Return an object (no module) after setting these tensors as its attributes: ``name``, or ``part.name``."""
    for name, x in tensors.items():
        *above, last = name.split(".")
        setattr(reduce(getattr, above, thing), last, x)
    return thing


def exact(weights: Any) -> None:
    """Make the module create its tensors in float64 if its weights are, so that both can be combined."""
    if any(x.dtype == torch.float64 for x in weights.values()):
        torch.set_default_dtype(torch.float64)  # until the call is over


def written(module: Any, name: str, value: Tensor) -> Any:
    """Return a module or other object after replacing one of its tensors, no parameter, by a value."""
    *above, last = name.split(".")
    setattr(module.get_submodule(".".join(above)) if above else module, last, value)
    return module


def chosen(choices: dict[str, Any], name: str) -> Any:
    """Return the value under a name. Raises NotImplementedError if there is none."""
    if name not in choices:
        raise NotImplementedError(f"{name}: there is no choice for it")
    return choices[name]
