"""Implementations by what a user typed: adapters as they are, other files with a binding that is inferred."""

from collections.abc import Mapping
from types import ModuleType

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.inference import infer
from attnconf.conformance.loading import resolve


def load(typed: str, prescribed: Mapping[str, str] | None = None) -> list[Implementation | Unjudgeable]:
    """Return what a name stands for, as ``resolve.load`` does. Raises LoadError if there is nothing of this name."""
    return resolve.load(typed, infer, prescribed)


def load_module(module: ModuleType, component: str | None = None) -> list[Implementation | Unjudgeable]:
    """Return what a module stands for that is there already. Raises LoadError if it has no such component."""
    return resolve.load_module(module, infer, component)
