"""The text of a binding, run: the functions of an adapter over a user's module."""

import math
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from attnconf.adapters import generated
from attnconf.adapters.contract import Build
from attnconf.adapters.kit.bind import bind


def functions_of(text: str, file: str, module: ModuleType, components: Sequence[str]) -> dict[str, Build]:
    """Return the functions that the text of a binding defines; ``file``: its name in tracebacks."""
    space = names(module)
    exec(compile(text, file, "exec"), space)
    return {name: space[name] for name in components}


def names(module: ModuleType) -> dict[str, Any]:
    """Return what the text of an adapter may use, as the head of the written one imports it."""
    helpers = {name: getattr(generated, name) for name in generated.__all__}
    return {"theirs": module, "torch": torch, "nn": nn, "math": math, "bind": bind,
            "SimpleNamespace": SimpleNamespace, **helpers}  # fmt: skip
