"""Which definitions are lent to torch, and by what: those that compute in NumPy, in JAX's libraries and in Keras.

And those of torch whose features lie on the second axis.
"""

import re
from types import ModuleType
from typing import Any

from torch import nn

from attnconf.adapters.generated.lent_classes import lender
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.source.source_text import code_reached

# The module of the class that all classes of a library are made from -> what lends them.
LIBRARIES = {
    "flax.linen.module": "jax_modules.in_jax",
    "flax.nnx.module": "jax_modules.in_jax",
    "equinox._module._module": "jax_modules.in_jax",
    "keras.src.layers.layer": "keras_layers.in_keras",
}

# What wants features on the second axis, of what computes in torch; tried after features last.
LAYOUTS = ("channels_first.in_channels", "channels_first.in_maps")
CHANNELS = r"(?i)conv[12]d|channel|\b[bn], ?c, ?[thln]\b|\b[bn] c [thln]\b"


def lent(thing: Any, module: ModuleType) -> list[ModuleType]:
    """Return the modules in which a class or function may be tried: its own, or one of its like for tensors."""
    kinds = thing.__mro__ if isinstance(thing, type) else ()
    library = next((LIBRARIES[kind.__module__] for kind in kinds if kind.__module__ in LIBRARIES), "")
    if library:
        return [lender(library)(module)]
    if computes_in_arrays(thing, module):
        return [lender("numpy_arrays.in_arrays")(module), module]
    return [module, *(lender(name)(module) for name in LAYOUTS if speaks_of_channels(thing))]


def speaks_of_channels(thing: Any) -> bool:
    """Return whether the features of a module may lie on the second axis: it convolves, or its code says channels."""
    module = isinstance(thing, type) and issubclass(thing, nn.Module)
    return module and re.search(CHANNELS, code_reached(thing)) is not None


def computes_in_arrays(thing: Any, module: ModuleType) -> bool:
    """Return whether the code of a class or function reads NumPy and not PyTorch."""
    read = [vars(module)[name] for name in names_read(thing) if name in vars(module)]
    read += thing.__mro__ if isinstance(thing, type) else []
    homes = [v.__name__ if isinstance(v, ModuleType) else getattr(v, "__module__", None) for v in read]
    homes += [type(v).__module__ for v in read]
    libraries = {str(home).partition(".")[0] for home in homes}
    return "numpy" in libraries and "torch" not in libraries
