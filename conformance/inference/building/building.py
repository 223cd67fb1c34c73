"""What a construction is: text that builds a user's object, and the names that the text may use."""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from torch import Tensor, nn

from attnconf.adapters.generated.batches import each_sequence
from attnconf.adapters.generated.function_module import functional, initial, of_function, paired
from attnconf.adapters.generated.held_objects import held
from attnconf.adapters.generated.modules import dropping
from attnconf.adapters.generated.one_length import for_each_length
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.vocabulary import KEEPS

Meanings = Mapping[str, Sequence[str]]  # what a parameter may mean -> expressions of ``config`` for it
SIZES = ("embed", "heads", "hidden", "layers")  # what has to agree in all parts of a file


@dataclass(frozen=True)
class Construction:
    """``text`` builds the object, after the statements of ``before``; ``given``: what the parameters were taken for."""

    text: str
    before: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Turn what is called a probability to keep: it is what dropout leaves."""
        turned = re.sub(rf"\b({KEEPS})(=|[\"']: )(config\.dropout|0\.0)\b", r"\1\g<2>1.0 - \3", self.text)
        object.__setattr__(self, "text", turned)


def and_each_sequence(every: Iterable[Construction], runs: Callable[[], bool]) -> Iterator[Construction]:
    """Yield constructions, and where none ``runs`` those again that may be for one sequence, without a batch."""
    tried = []
    for made in every:
        tried.append(made)
        yield made
    for made in () if runs() else tried:
        yield replace(made, text=f"each_sequence({made.text})")


def run(made: Construction, space: dict[str, Any]) -> Any:
    """Return what a construction builds in ``space``, which has config, theirs, …"""
    for statement in made.before:
        exec(statement, space)
    return eval(made.text, space)


class Standing(dict[str, Any]):
    """What stands for the weights where something is built for a look: whatever name is asked for is one number."""

    def __missing__(self, name: str) -> Any:
        return self[""]


def space_for(config: Any, module: ModuleType, **more: Any) -> dict[str, Any]:
    """Return the names that a construction's text may use; weights, if it asks for one, are in float64."""
    import torch

    return {
        "weights": Standing({"": torch.zeros(1, dtype=torch.float64)}),
        "config": config,
        "theirs": module,
        "torch": torch,
        "nn": torch.nn,
        "functional": functional,
        "initial": initial,
        "of_function": of_function,
        "paired": paired,
        "held": held,
        "dropping": dropping,
        "for_each_length": for_each_length,
        "each_sequence": each_sequence,
        "SimpleNamespace": SimpleNamespace,
        **more,
    }


def with_dropout(made: Construction, module: Any, space: Mapping[str, Any]) -> Construction:
    """Return the construction such that dropout is what is asked for, where parts have one that nobody can choose."""
    drops = _probabilities(module)
    if not any(drops):
        return made
    other = {**space, "config": replace(space["config"], dropout=0.25)}
    if any(one > 0 and one != two for one, two in zip(drops, _probabilities(run(made, other)), strict=True)):
        return made  # it is chosen, and wrongly
    return replace(made, text=f"dropping({made.text}, config.dropout)", given=made.given | {"dropout"})


def _probabilities(module: Any) -> list[float]:
    if not isinstance(module, nn.Module):
        return []
    parts = module.modules()
    return [
        m.p if isinstance(m, nn.Dropout) else m.dropout
        for m in parts
        if isinstance(m, nn.Dropout | nn.MultiheadAttention)
    ]


def as_module(made: Construction, thing: Any, width: int = 0) -> tuple[Construction, Any]:
    """Return a construction with what it builds, as a module where that is another object, called, with tensors.

    ``width``: that of the vectors with which it may make its tensors when it is called first. Raises Failed where a
    pair of functions makes no weights.
    """
    if is_pair(thing):
        return replace(made, text=f"paired({made.text})"), attempt(partial(paired, thing))
    if isinstance(thing, FunctionType):
        return replace(made, text=f"of_function({made.text})"), of_function(thing)
    if isinstance(thing, nn.Module) or not any(hasattr(type(thing), name) for name in ("forward", "__call__")):
        return made, thing
    module, given = held(thing), ""
    if next(module.parameters(), None) is None and width:
        with contextlib.suppress(Failed):
            module, given = attempt(partial(held, thing, width)), ", config.embed_dim"
    if next(module.parameters(), None) is None:
        return made, thing
    return replace(made, text=f"held({made.text}{given})"), module


def is_pair(thing: Any) -> bool:
    """Return whether something is a pair of functions, (init, apply), or of weights and a function."""
    if not isinstance(thing, nn.Module) and all(inspect.ismethod(getattr(thing, n, None)) for n in ("init", "apply")):
        return True
    both = list(thing.values()) if isinstance(thing, dict) else thing
    if not isinstance(both, list | tuple) or len(both) != 2:
        return False
    return callable(both[1]) and (callable(both[0]) or isinstance(both[0], dict | list | tuple))


def tensors_of(thing: Any) -> dict[str, Tensor]:
    """Return the parameters of a module, or the tensors that another object holds."""
    if isinstance(thing, nn.Module):
        return dict(thing.named_parameters())
    held = {name: x for name, x in vars(thing).items() if isinstance(x, Tensor)} if hasattr(thing, "__dict__") else {}
    return {name: x for name, x in held.items() if x.is_floating_point()}


@contextlib.contextmanager
def having_default(thing: Any, name: str, value: Any) -> Iterator[None]:
    """Let a parameter of a constructor have another default."""
    start = thing.__init__
    defaults, by_name = start.__defaults__, dict(start.__kwdefaults__ or {})
    late = [
        p.name
        for p in inspect.signature(start).parameters.values()
        if p.default is not p.empty and p.name not in by_name
    ]
    if name in by_name:
        start.__kwdefaults__[name] = value
    else:
        start.__defaults__ = tuple(value if n == name else d for n, d in zip(late, defaults, strict=True))
    try:
        yield
    finally:
        start.__defaults__ = defaults
        if by_name:
            start.__kwdefaults__.update(by_name)
