"""Parts that a constructor wants: modules of the user's own file, or torch's, as text."""

import inspect
import re
from collections.abc import Callable, Sequence
from types import ModuleType

Part = Callable[[str, inspect.Parameter], Sequence[str]]


def part_of(module: ModuleType) -> Part:
    """Return what gives expressions for a parameter that wants a part, by its name."""

    def part(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        plain = name.lower().strip("_")
        if re.fullmatch(r"(w_?)?(q|k|v|query|key|value)_?(proj|layer|linear|projection)", plain):
            return ("nn.Linear(config.embed_dim, config.embed_dim)",)
        if re.fullmatch(r"(w_?)?(o|out|output)_?(proj|layer|linear|projection)", plain):
            return ("nn.Linear(config.embed_dim, config.embed_dim)",)
        return ()

    return part
