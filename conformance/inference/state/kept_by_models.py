"""A cache of a model that reads ids: it is asked with ids, as positions are counted there."""

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.building.kept_objects import MAKES
from attnconf.conformance.inference.state.kept_state import (
    DIFFERS,
    EMPTY,
    SEVERAL,
    UNTRIED,
    Came,
    Rows,
    best,
    containers,
    continued,
    flags,
    is_positions,
    places,
)
from attnconf.conformance.inference.state.said_of_caches import as_promised
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import CACHE, parameters
from attnconf.conformance.inference.trials.claims import words_of
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.weights.function_forms import taken
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import tree_of

ROOM = 32  # tokens that a cache is made for
MEMORY = 5  # vectors


def of_ids(place: Place, made: Construction, config: Any) -> str:
    """Return words on a cache of a model that reads ids, or is handed vectors for them; "" where it is right."""
    thing = place.thing
    kept = [p.name for p in parameters(thing) if p.default is None and re.fullmatch(CACHE, snake(p.name).strip("_"))]
    inner = handed_text(made.text) or (made.text if hasattr(config, "vocab_size") else "")
    if not kept or not inner:
        return ""
    words = UNTRIED if not handed_text(made.text) else ""
    if len(_required(thing)) in (1, 2):
        with contextlib.suppress(Failed, RuntimeError, TypeError, ValueError):
            model = _model(place, Construction(inner, made.before), config)
            told = as_promised(place, _told(model, kept[0], thing))
            words = words if told == UNTRIED and model.memory is not None else told
    return f"the argument `{kept[0]}` of forward {words}" if words else ""


def _required(thing: Any) -> list[str]:
    """Return the arguments of a call without a default that are inputs."""
    needed = [p.name for p in parameters(thing) if p.default is inspect.Parameter.empty]
    return [name for name in needed if name not in taken(thing)]


def _model(place: Place, made: Construction, config: Any) -> "_Model":
    """Return a model as it is built, in float64. Raises Failed."""
    built = attempt(partial(run, made, space_for(config, place.module)))
    layers = getattr(config, "num_layers", 0)
    return _Model(_with_numbers(built.double().eval()), _memory_at(_required(place.thing)), config.embed_dim, layers)


@dataclass(frozen=True)
class _Model:
    """A model with its arguments without a default: ids, and perhaps vectors of a memory before or behind them."""

    module: nn.Module
    memory: int | None  # its place
    width: int
    layers: int

    def begins(self) -> tuple[Callable[[], Any], ...]:
        """Return what a sequence may begin with: nothing at all, or nothing for each layer."""
        return (*EMPTY, lambda: [None] * self.layers)

    def __call__(self, ids: Tensor, **more: Any) -> Any:
        inputs: list[Tensor] = [ids]
        if self.memory is not None:
            inputs.insert(self.memory, drawn("a memory beside ids", len(ids), MEMORY, self.width))
        return self.module(*inputs, **more)


def _memory_at(required: Sequence[str]) -> int | None:
    """Return the place of a memory among the inputs, the second where names say nothing; None without one."""
    named = [i for i, name in enumerate(required) if "memory" in meanings(name, INPUTS)]
    return None if len(required) == 1 else named[0] if len(named) == 1 else 1


def _with_numbers(built: nn.Module) -> nn.Module:
    """Return a module; where all of its weights are 0, as nothing in the file makes them, with others."""
    weights = list(built.parameters())
    if not any(p.any() for p in weights):
        drawn = torch.Generator().manual_seed(0)
        for p in weights:
            p.data = torch.randn(p.shape, generator=drawn, dtype=p.dtype)
    return built


def _told(model: _Model, name: str, thing: Any) -> str:
    """Return what is wrong with a model's cache; "" where nothing is.

    Positions that may be left out are the model's own to find then: they have to go on, too, unless words want them.
    """
    words = best(_ways(model, name, thing, places(thing)))
    own = next((p.name for p in parameters(thing) if p.default is None and is_positions(p.name)), "")
    wanted = rf"{own}\b[^.]*\b(must|have to|has to|need|requir|give|pass|hand)"
    if words or not own or re.search(wanted, words_of(thing)):
        return words
    alone = best(_ways(model, name, thing, places(thing)[-1:]))
    return f"{alone}, where `{own}` is left out" if alone.startswith(DIFFERS) and alone != SEVERAL else ""


def _ways(model: _Model, name: str, thing: Any, known: Sequence[Rows]) -> Iterator[str]:
    """Yield what ``continued`` says of each way to hand a model's cache over."""
    ids = torch.tensor([[1, 4, 2, 5, 3, 1], [3, 3, 1, 2, 5, 4]])
    for told in known:
        call = partial(_came, model, name, flags(thing), told)
        owners = (model.module,) if model.memory is None else None
        yield from (continued(call, ids, new, returned=True, owners=owners) for new in model.begins())
        written = chain(_made_by(model.module, len(ids)), containers(lambda kept, call=call: call(ids, kept, 0)))  # type: ignore[misc]
        yield from (continued(call, ids, new, returned=False, owners=owners) for new in written)


def _made_by(module: nn.Module, samples: int) -> Iterator[Callable[[], Any]]:
    """Yield the first method of a model that makes a cache, asked for so many samples, and enough tokens."""
    makers = [name for name in dir(type(module)) if re.fullmatch(MAKES, name)]
    for name in makers[:1]:
        method = getattr(module, name)
        needed = [p.name for p in parameters_of(method) if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        with contextlib.suppress(Failed):
            given = {each: ROOM if "max_len" in meanings(each) else samples for each in needed}
            new = partial(attempt, partial(method, **given))
            new()
            yield new


def handed_text(text: str) -> str:
    """Return what is handed vectors in a construction's text, without that; "" where nothing is."""
    calls = (node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Call) and node.args)
    return next((ast.unparse(c.args[0]) for c in calls if isinstance(c.func, ast.Name) and c.func.id == "handed"), "")


def _came(
    model: _Model, name: str, more: Mapping[str, Any], told: Rows, ids: Tensor, kept: Any, at: int
) -> Came | None:
    """Return the logits of ids and all that came back; None where no logits did."""
    given = {**more, **told(at, ids.shape[1]), **({} if kept is None else {name: kept})}
    try:
        result = attempt(lambda: model(ids, **given))
    except Failed:
        return None
    result = tuple(result.values()) if isinstance(result, Mapping) else result
    there = result if isinstance(result, tuple | list) else (result,)
    out = next((x for x in there if isinstance(x, Tensor) and x.ndim == 3 and x.shape[:2] == ids.shape), None)
    return None if out is None else Came(out.detach(), result)
