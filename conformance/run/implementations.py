"""Load the implementations that a user names: adapters as they are, other files with an inferred binding."""

from collections.abc import Mapping
from types import ModuleType

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.inference import infer
from attnconf.conformance.loading import isolated, resolve


def load(typed: str, prescribed: Mapping[str, str] | None = None) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a name, as ``resolve.load`` does. Raises LoadError if there is none."""
    return resolve.load(typed, infer, prescribed)


def load_isolated(
    typed: str, prescribed: Mapping[str, str] | None, terms: isolated.Terms
) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a name, to be run in a process of its own. Raises LoadError if there is none."""
    return isolated.load(typed, prescribed, terms)


def load_module(module: ModuleType, component: str | None = None) -> list[Implementation | Unjudgeable]:
    """Return the implementations in a module object. Raises LoadError if it lacks the component."""
    return resolve.load_module(module, infer, component)
