"""``in_keras(module)``: layers of Keras, on its torch backend, as modules with the layers' variables as parameters."""

import inspect
import os
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

os.environ.setdefault("KERAS_BACKEND", "torch")  # Keras reads it when it is imported
import keras

from attnconf.adapters.generated.held_objects import register
from attnconf.adapters.generated.lent_classes import WIDTH, LentBy, Parameters, lent_class, parameters_of, required

GIVEN = frozenset({"training", "dtype", "name", "trainable"})


class Lent(nn.Module):
    """A layer, made once for each dtype, as Keras wants it; it gets its variables with its first input."""

    def __init__(self, kind: Any, options: dict[str, Any]):
        super().__init__()
        width = options.pop(WIDTH.name, None)
        self.__dict__.update(kind=kind, options=options, width=width, _made={})  # no sub-modules, whatever they are
        layer = self.layer(torch.float32)
        self.names = names_of(layer.trainable_variables)
        for name, variable in zip(self.names, layer.trainable_variables, strict=True):
            register(self, name.split("."), nn.Parameter(variable.value.detach().clone()))

    kind: Any
    options: dict[str, Any]
    width: Any
    _made: dict[torch.dtype, Any]

    def layer(self, dtype: torch.dtype) -> Any:
        """Return the layer in a dtype."""
        if dtype not in self._made:
            before = keras.config.dtype_policy()
            keras.config.set_dtype_policy(str(dtype).removeprefix("torch."))  # of the parts as well
            try:
                layer = self.kind(**self.options)
                x = torch.zeros(1, 2, self.width) if self.width else torch.zeros(1, 2, dtype=torch.int64)
                layer(*[x] * required(parameters_of(self.kind.call)))
            finally:
                keras.config.set_dtype_policy(before)
            self._made[dtype] = layer
        return self._made[dtype]

    def run(self, args: Any, kwargs: Any) -> Any:
        """Return what a call gives."""
        own = dict(self.named_parameters())
        floating = [x for x in (*own.values(), *args) if isinstance(x, Tensor) and x.is_floating_point()]
        layer = self.layer(floating[0].dtype)
        told = {"training": self.training} if "training" in inspect.signature(self.kind.call).parameters else {}
        others = [fresh(variable) for variable in layer.non_trainable_variables]
        return layer.stateless_call([own[name] for name in self.names], others, *args, **told, **kwargs)[0]


def names_of(variables: Sequence[Any]) -> list[str]:
    """Return the paths of variables in their layer; parts that Keras numbers in the process are numbered in the layer.

    The second ``dense`` of every such layer is ``dense_1``.
    """
    known: dict[str, list[str]] = {}

    def own(part: str) -> str:
        bare = re.sub(r"_\d+$", "", part)
        alike = known.setdefault(bare, [])
        alike += [] if part in alike else [part]
        return f"{bare}_{alike.index(part)}" if alike.index(part) else bare

    return [".".join(own(part) for part in v.path.split("/")[1:]) for v in variables]


def fresh(variable: Any) -> Tensor:
    """Return the value of a variable that is not trained; of one that is the state of a generator, another one."""
    value: Tensor = variable.value
    return value if value.is_floating_point() or value.dtype == torch.bool else torch.randint(2**31, value.shape)


def in_keras(module: ModuleType) -> ModuleType:
    """Return a module whose layers of Keras are modules of torch."""
    if keras.backend.backend() != "torch":
        runs = keras.backend.backend()
        raise RuntimeError(f"Keras runs on {runs}: KERAS_BACKEND must be torch before it is imported")
    return LentBy(module, lent, "keras_layers.in_keras", "in Keras     on its torch backend, in one dtype at a time")


def lent(kind: Any) -> Any:
    """Return a class of modules for a class of layers, and anything else as it is."""
    if not isinstance(kind, type) or not issubclass(kind, keras.Layer):
        return kind
    layer: Any = kind
    constructor, call = parameters_of(layer.__init__), parameters_of(layer.call)
    ids = any(p.name == "input_dim" for p in constructor)
    return lent_class(kind, Lent, constructor if ids else _with_width(constructor), call, GIVEN)


def _with_width(constructor: Parameters) -> Parameters:
    rest = [p for p in constructor if p.kind is p.VAR_KEYWORD]
    return [*(p for p in constructor if p not in rest), WIDTH, *rest]
