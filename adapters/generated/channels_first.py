"""``in_channels(module)``, ``in_maps(module)``: modules that want features on the second axis, for tokens × features.

Speech has (batch, channels, time), vision (batch, channels, height, width). The tokens of a sequence become times, or
the places of a map, row by row; a map is as high as its number of tokens lets it be, so that rows and columns differ.
"""

import inspect
import math
import re
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from attnconf.adapters.generated.lent_classes import LentBy

ABOUT_TOKENS = r"mask|bias|pad|length|^pos|hidden_keys"  # in names of what has no features


def in_channels(module: ModuleType) -> ModuleType:
    """Return a module whose own modules of torch take (batch, tokens, features), and want (batch, channels, time)."""
    told = "channels     on the second axis, (N, C, T): inputs and outputs are transposed"
    return LentBy(module, partial(_lent, module.__name__, _times), "channels_first.in_channels", told)


def in_maps(module: ModuleType) -> ModuleType:
    """Return a module whose own modules of torch take (batch, tokens, features), and want maps of channels."""
    told = "channels     on the second axis, (N, C, H, W): tokens are laid out in rows of a map"
    return LentBy(module, partial(_lent, module.__name__, _map), "channels_first.in_maps", told)


def _times(tokens: int) -> tuple[int, ...]:
    return (tokens,)


def _map(tokens: int) -> tuple[int, ...]:
    """Return the height and the width of a map: a divisor as near to the square root as there is, and the rest."""
    height = next((h for h in range(math.isqrt(tokens), 0, -1) if tokens % h == 0), 1)
    return height, tokens // height


def _lent(module: str, layout: Callable[[int], tuple[int, ...]], kind: Any) -> Any:
    """Return a module's class of modules with features last; anything else as it is."""
    if not isinstance(kind, type) or not issubclass(kind, nn.Module) or kind.__module__ != module:
        return kind
    theirs: Any = kind
    signature = inspect.signature(theirs.forward)

    @wraps(theirs.forward)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(self, *args, **kwargs)
        first = next((x for x in list(given.arguments.values())[1:] if isinstance(x, Tensor)), None)
        for name, x in given.arguments.items():
            given.arguments[name] = turned(x, layout) if _has_features(name, x) else x
        result = theirs.forward(*given.args, **given.kwargs)
        return result if first is None else _returned(result, first, layout)

    own = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    return type(kind.__name__, (kind,), {**own, "forward": forward})


def _has_features(name: str, x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point() and not re.search(ABOUT_TOKENS, name.lower())


def turned(x: Tensor, layout: Callable[[int], tuple[int, ...]]) -> Tensor:
    """Return (…, tokens, features) as (batch, features, …); all axes between the first and the last are tokens."""
    x = x[(None,) * (3 - x.ndim)] if x.ndim < 3 else x
    tokens = x.flatten(1, -2)
    maps: Tensor = tokens.transpose(1, 2).unflatten(2, layout(tokens.shape[1]))
    return maps


def _returned(result: Any, first: Tensor, layout: Callable[[int], tuple[int, ...]]) -> Any:
    """Return what came back with features last: the output, alone or before others."""
    if isinstance(result, tuple | list):
        return type(result)([_returned(result[0], first, layout), *result[1:]])
    tokens = first.shape[1:-1].numel() if first.ndim > 2 else first.shape[:-1].numel()
    if not isinstance(result, Tensor) or tuple(result.shape[2:]) != layout(tokens):
        return result
    back: Tensor = result.flatten(2).transpose(1, 2)
    return back.reshape(*first.shape[:-1], back.shape[-1])
