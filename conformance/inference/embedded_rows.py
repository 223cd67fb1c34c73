"""Rows of positions that a model adds to the tokens that it makes: each token has its own where there are as many."""

import ast
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.generated.vector_input import CALL, Calls
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.probing import Failed, attempt, restored
from attnconf.conformance.inference.trial import drawn
from attnconf.conformance.inference.watching import WIDTH, B, called_with
from attnconf.conformance.source.syntax import expression_of


def shared(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return words on rows of positions of which two tokens have the same one, while another one is nobody's.

    Only where there are as many rows as tokens, of a model that is handed vectors behind what it makes tokens of.
    """
    words = expression_of(text.made.text)
    if not (isinstance(words, ast.Call) and ast.unparse(words.func) == "handed"):
        return ()
    raw = next((ast.literal_eval(k.value) for k in words.keywords if k.arg == "raw"), 0)
    if not isinstance(raw, tuple):
        return ()
    inner = replace(text.made, text=ast.unparse(words.args[0]))
    (argument, at), *_ = ast.literal_eval(words.args[1]).items()
    x = drawn("raw", B, *(WIDTH if size < 0 else size for size in raw))
    try:
        module = attempt(lambda: run(inner, space_for(config, place.module)))
        tokens = partial(_tokens, module, at, text.form, argument, x)
        return tuple(words for name in _tables(module) for words in _twice(module, name, tokens))
    except Failed:
        return ()


def _tables(module: nn.Module) -> list[str]:
    """Return the model's own parameters that are rows as wide as it is."""
    own = module.named_parameters(recurse=False)
    return [name for name, p in own if p.shape[-1:] == (WIDTH,) and p.numel() == p.shape[-2:].numel() > WIDTH]


def _twice(module: nn.Module, name: str, tokens: Any) -> list[str]:
    """Return words on a table of which two tokens have one row. Raises Failed."""
    table = getattr(module.double(), name).data
    before, news = tokens(), drawn("rows", *table.shape)
    table += news
    change, rows = (tokens() - before).reshape(B, -1, WIDTH)[0], news.reshape(-1, WIDTH)
    alike = torch.cdist(change, rows) < 1e-6
    times = Counter(alike.nonzero()[:, 1].tolist())
    each = len(change) == len(rows) and bool((alike.sum(1) == 1).all())
    if not each or sorted(times.values())[-2:] != [1, 2]:
        return []
    row, free = times.most_common(1)[0][0], (set(range(len(rows))) - set(times)).pop()
    return [f"two tokens have row {row} of {name} for their position, and row {free} is nobody's"]


def _tokens(module: nn.Module, at: str, form: Any, argument: str, x: Tensor) -> Tensor:
    """Return the vectors where the layers begin. Raises Failed."""
    seen: list[Tensor] = []

    def note(tree: Any) -> None:
        found = (x for x in tree_leaves(tree) if isinstance(x, Tensor) and x.ndim == 3 and x.is_floating_point())
        seen.extend(x.detach().clone() for x in found)

    def note_call(call: str, result: Any) -> Any:
        if call == at:
            note(result)
        return result

    def call_watched(*args: Any, **kwargs: Any) -> Any:
        with Calls(note_call):
            return forward(*args, **kwargs)

    with restored(module):
        forward, module.forward = module.forward, call_watched
        if not at.startswith(CALL):
            part = module.get_submodule(at.partition(" of ")[2])
            if at.startswith("input"):
                part.register_forward_pre_hook(lambda _, args, kwargs: note((args, kwargs)), with_kwargs=True)
            else:
                part.register_forward_hook(lambda _, args, output: note(output))
        called_with(module, form, lambda slot: x if slot.name == argument else None)
    if not seen:
        raise Failed("no vectors are seen")
    return seen[0]
