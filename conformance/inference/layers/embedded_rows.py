"""What a model makes its tokens of: rows of positions, of which each token has its own, and a token of its own."""

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.generated.vector_input import CALL, Calls, part_of
from attnconf.conformance.inference.building.building import run, space_for
from attnconf.conformance.inference.finding.watching import WIDTH, B, called_with
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt, restored
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.source.syntax import expression_of


@dataclass(frozen=True)
class _Inner:
    """A model without the vectors that it is handed: how it is called, where these are put in and where it ends."""

    module: nn.Module
    form: Any
    argument: str
    at: str
    out: str
    x: Tensor

    def tokens(self) -> Tensor:
        """Return the vectors where the layers begin. Raises Failed."""
        return _tokens(self.module, self.at, self.form, self.argument, self.x)

    def read(self) -> list[int]:
        """Return the tokens behind the layers that the output depends on. Raises Failed."""
        seen: list[Tensor] = []
        with restored(self.module):
            part = part_of(self.module, self.out)
            part.register_forward_hook(lambda _, args, output: seen.append(output))
            result = called_with(self.module, self.form, lambda slot: self.x if slot.name == self.argument else None)
            total = sum(x.square().sum() for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad)
            if not seen or not isinstance(seen[0], Tensor) or seen[0].ndim != 3 or not isinstance(total, Tensor):
                return []
            slope = torch.autograd.grad(total, seen[0], allow_unused=True)[0]
        return [] if slope is None else slope.abs().amax(dim=(0, 2)).nonzero().flatten().tolist()


def _inner(place: Place, text: LayerText, config: Any) -> _Inner | None:
    """Return the model that is handed vectors behind what it makes tokens of; None where there is none."""
    words = expression_of(text.made.text)
    if not (isinstance(words, ast.Call) and ast.unparse(words.func) == "handed"):
        return None
    told = {str(k.arg): ast.literal_eval(k.value) for k in words.keywords}
    raw, out = told.get("raw", 0), told.get("out", "")
    if not isinstance(raw, tuple) or told.get("turned"):
        return None
    inner = replace(text.made, text=ast.unparse(words.args[0]))
    (argument, at), *_ = ast.literal_eval(words.args[1]).items()
    x = drawn("raw", B, *(WIDTH if size < 0 else size for size in raw))
    try:
        module = attempt(lambda: run(inner, space_for(config, place.module)))
    except Failed:
        return None
    return _Inner(module, text.form, argument, at, out if out.startswith("output") else "", x)


def shared(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return words on rows of positions of which two tokens have the same one, while another one is nobody's.

    Only where there are as many rows as tokens, of a model that is handed vectors behind what it makes tokens of.
    """
    found = _inner(place, text, config)
    try:
        names = _tables(found.module) if found else []
        return tuple(words for name in names if found for words in _twice(found.module, name, found.tokens))
    except Failed:
        return ()


def passed_by(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return words on a model with a token of its own that reads another token alone, behind its layers."""
    found = _inner(place, text, config)
    if found is None or not found.out:
        return ()
    module = found.module
    try:
        before = found.tokens()
        own = {name: p for name, p in module.double().named_parameters(recurse=False) if p.numel() == WIDTH}
        places = dict[str, int]()
        for name, p in own.items():
            p.data += 1
            changed = (found.tokens() - before).abs().amax(dim=(0, 2)).nonzero().flatten().tolist()
            p.data -= 1
            places |= {name: changed[0]} if len(changed) == 1 else {}
        read = found.read()
    except Failed:
        return ()
    if len(read) != 1 or not places or read[0] in places.values():
        return ()
    name, at = next(iter(places.items()))
    return (f"{name} is token {at}, and what comes out is read off token {read[0]} alone",)


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
