"""``in_jax(module)``: classes of Flax and Equinox, to be called with tensors, gradients included, on the CPU.

An object of such a class is wrapped in a module whose parameters are the object's. What a library wants beside the
inputs it is given as its documentation says: random numbers to begin with and to drop with, whether it is trained,
and in Equinox, whose layers know no batch, one sample at a time.
"""

import inspect
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import Tensor, nn

from attnconf.adapters.generated.held_objects import register
from attnconf.adapters.generated.lent_classes import WIDTH, LentBy, Parameters, lent_class, parameters_of, required
from attnconf.adapters.kit.jax_bridge import through_jax

KINDS = frozenset({"dtype", "param_dtype"})  # they are those of the parameters and the inputs


class Linen:
    """flax.linen: an object is its options, and gets its parameters with its first input."""

    given = KINDS | {"parent", "name", "deterministic", "dropout_rng", "sow_weights"}

    def parameters(self, kind: type) -> Parameters:
        """Return the parameters of a constructor; where none says how wide inputs are, one more that does."""
        found = list(inspect.signature(kind).parameters.values())
        return found if any(p.name in ("features", "num_embeddings") for p in found) else [*found, WIDTH]

    def begin(self, kind: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        """Return what is fixed of an object, which can be hashed, and its parameters."""
        width = options.pop(WIDTH.name, None)
        thing = kind(**options)
        x = jnp.zeros((1, 2, width)) if width else jnp.zeros((1, 2), int)
        made = thing.init(jax.random.key(0), *[x] * required(_call_of(kind)), **self._still(kind))
        return thing, made.get("params", {})

    def _still(self, kind: type, still: bool = True) -> dict[str, Any]:
        return {p.name: still for p in _call_of(kind) if p.name == "deterministic"}

    def call(self, thing: Any, params: Any, seed: Any, args: Any, kwargs: Any) -> Any:
        """Return what a call gives; ``seed`` is None where nothing is dropped."""
        random = {} if seed is None else {"dropout": jax.random.key(seed)}
        if getattr(thing, "dtype", None) is not None:  # that of the result, whatever comes in
            floats = [x for x in jax.tree.leaves((args, params)) if jnp.issubdtype(x.dtype, jnp.floating)]
            thing = thing.clone(dtype=floats[0].dtype) if floats else thing
        return thing.apply({"params": params}, *args, rngs=random, **self._still(type(thing), seed is None), **kwargs)


@dataclass(frozen=True)
class Split:
    """An object of flax.nnx without its parameters; two are alike if they are made alike."""

    form: Any
    kind: type
    params: Any = field(compare=False)
    others: Any = field(compare=False)


class Nnx:
    """flax.nnx: an object holds its parameters; it is taken apart, and put together for a call."""

    given = KINDS | {"rngs", "deterministic", "sow_weights", "decode", "keep_rngs"}

    def parameters(self, kind: type) -> Parameters:
        return parameters_of(kind.__init__)  # type: ignore[misc]  # of the class

    def begin(self, kind: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        from flax import nnx

        wants = {p.name for p in self.parameters(kind)}
        thing = kind(**options, **({"rngs": nnx.Rngs(0)} if "rngs" in wants else {}))
        form, params, others = nnx.split(thing, nnx.Param, ...)
        return Split(form, kind, params, others), nnx.to_pure_dict(params)

    def call(self, fixed: Split, params: Any, seed: Any, args: Any, kwargs: Any) -> Any:
        from flax import nnx

        state = jax.tree.map(lambda x: x, fixed.params)
        nnx.replace_by_pure_dict(state, params)
        thing = nnx.merge(fixed.form, state, fixed.others)
        thing.set_attributes(deterministic=seed is None, use_running_average=True, raise_if_not_found=False)
        thing.set_attributes(dtype=None, raise_if_not_found=False)  # an embedding keeps the one it was made in
        wants = {p.name for p in _call_of(fixed.kind)}
        told = {"deterministic": seed is None, "decode": False}
        told |= {} if seed is None else {"rngs": nnx.Rngs(dropout=jax.random.key(seed))}
        return thing(*args, **{name: value for name, value in told.items() if name in wants}, **kwargs)


class Equinox:
    """equinox.nn: an object is a tree of its parameters, and takes one sample."""

    given = KINDS | {"key", "state", "inference", "deterministic"}

    def parameters(self, kind: type) -> Parameters:
        return list(inspect.signature(kind).parameters.values())

    def begin(self, kind: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        import equinox

        wants = {p.name for p in self.parameters(kind)}
        thing = kind(**options, **({"key": jax.random.key(0)} if "key" in wants else {}))
        params, fixed = equinox.partition(thing, equinox.is_inexact_array)
        return fixed, params

    def call(self, fixed: Any, params: Any, seed: Any, args: Any, kwargs: Any) -> Any:
        import equinox

        thing = equinox.nn.inference_mode(equinox.combine(params, fixed), seed is None)
        wanted = any(p.name == "key" for p in _call_of(type(thing)))
        key = jax.random.key(seed) if wanted and seed is not None else None
        for axes in range(args[0].ndim, 0, -1):  # as many of batches as leave it something that it can take
            try:
                jax.eval_shape(lambda *given, axes=axes: _over(thing, axes, *given), args, kwargs, key)
            except Exception:
                continue
            return _over(thing, axes, args, kwargs, key)
        return _over(thing, 0, args, kwargs, key)


def _over(thing: Any, axes: int, args: Any, kwargs: Any, key: Any) -> Any:
    """Return what an object of Equinox gives over this many axes of a batch."""
    if not axes:
        return thing(*args, **kwargs, **({} if key is None else {"key": key}))
    size, rank = args[0].shape[0], args[0].ndim
    leaves, form = jax.tree.flatten((args, kwargs))
    leaves = [x[0] if x.ndim >= rank and len(x) == 1 < size else x for x in leaves]
    apart = [0 if x.ndim >= rank and len(x) == size else None for x in leaves]

    def each(key: Any, *leaves: Any) -> Any:
        args, kwargs = jax.tree.unflatten(form, leaves)
        return _over(thing, axes - 1, args, kwargs, key)

    keys = None if key is None else jax.random.split(key, size)
    return jax.vmap(each, in_axes=(None if key is None else 0, *apart))(keys, *leaves)


LIBRARIES = {"flax.linen.module": Linen(), "flax.nnx.module": Nnx(), "equinox._module._module": Equinox()}


def library_of(thing: Any) -> Any:
    """Return the library of a class of modules, or None."""
    kinds = thing.__mro__ if isinstance(thing, type) else ()
    homes = [LIBRARIES[kind.__module__] for kind in kinds if kind.__module__ in LIBRARIES]
    return homes[0] if homes else None


class Lent(nn.Module):
    """An object that computes in JAX, as a module that has its parameters."""

    def __init__(self, kind: type, options: dict[str, Any]):
        super().__init__()
        library = library_of(kind)
        fixed, params = library.begin(kind, options)
        leaves, form = jax.tree_util.tree_flatten_with_path(params)
        self.names = [".".join(_step(step) for step in path) for path, _ in leaves]
        self.fixed = library, fixed, form
        for name, (_, array) in zip(self.names, leaves, strict=True):
            register(self, name.split("."), nn.Parameter(torch.tensor(jax.device_get(array))))

    def run(self, args: Any, kwargs: Any) -> Any:
        """Return what a call gives; numbers and flags in it are fixed, tensors are not."""
        seed = torch.randint(2**31, ()) if self.training else None
        leaves, form = jax.tree.flatten((args, kwargs))
        plain = tuple(None if isinstance(x, Tensor) else x for x in leaves)
        run = through_jax(_call, (*self.fixed, form, plain))
        own = dict(self.named_parameters())
        return run([own[name] for name in self.names], [x for x in leaves if isinstance(x, Tensor)], seed)


def _call(config: Any, params: Any, tensors: Any, seed: Any) -> Any:
    library, fixed, params_form, form, plain = config
    given = iter(tensors)
    args, kwargs = jax.tree.unflatten(form, [next(given) if x is None else x for x in plain])
    return library.call(fixed, jax.tree.unflatten(params_form, params), seed, args, kwargs)


def _step(step: Any) -> str:
    """Return a key, an index or a name on the way to a parameter as a name."""
    return str(next(getattr(step, name) for name in ("key", "idx", "name") if hasattr(step, name)))


def _call_of(kind: Any) -> Parameters:
    return parameters_of(kind.__call__)


def in_jax(module: ModuleType) -> ModuleType:
    """Return a module whose classes of Flax and Equinox are such of torch."""
    return LentBy(module, lent, "jax_modules.in_jax", "in JAX       on the CPU; tensors go in and come out")


def lent(kind: Any) -> Any:
    """Return a class of modules of torch for one of Flax or Equinox, and anything else as it is."""
    library = library_of(kind)
    if library is None or not hasattr(kind, "__call__"):  # noqa: B004  # its objects can be called
        return kind
    return lent_class(kind, Lent, library.parameters(kind), _call_of(kind), library.given)
