"""Models that take ids or give no vectors: where their layers begin and end, found by watching a call."""

import ast
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import COMPONENTS
from attnconf.adapters.generated.function_module import Functional
from attnconf.adapters.generated.vector_input import ID, Handed
from attnconf.conformance.inference.building.building import Construction, run
from attnconf.conformance.inference.finding.watching import (
    WIDTH,
    B,
    Seen,
    called_with,
    calls_before,
    ending,
    output_of,
    watched,
)
from attnconf.conformance.inference.layers.looked_up import with_rows_handed
from attnconf.conformance.inference.layers.pictured import pictured, takes_pictures
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output, restored
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.source.syntax import expression_of

L, S = 3, 7
SHAPES = {(*tokens, WIDTH) for n in (L, S) for tokens in ((B, n), (n, B))}


def handed(made: Construction, module: nn.Module, form: Form, component: str) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that it takes and gives vectors; the same where it does already.

    Raises Failed.
    """
    known, raw = COMPONENTS[component], _projected(module)
    embeds = any(map(is_table, module.modules()))
    pictures = known.stacked and not (known.reads_ids or embeds) and takes_pictures(module, form)
    if known.stacked and not known.reads_ids and isinstance(module, Functional) and _asks_for_ids(module, form):
        asking = [slot for slot in form.slots if slot.role == "x"]
        if asking and "source" not in known.attends:
            with suppress(Failed) if pictures else nullcontext():
                return with_rows_handed(made, module, form, asking[0].name, _given(asking), _given(()))
    if pictures:
        return pictured(made, module, form)
    if not known.stacked or known.reads_ids or not (embeds or raw):
        return made, module
    ids = [slot for slot in form.slots if slot.role in ("x", "source", "target") and _asks_for_ids(module, form)]
    if raw and not ids:
        return made, module
    for sequence_first in (False, True):
        try:
            seen, result = watched(module, form, _given(ids, raw, sequence_first), SHAPES.__contains__)
            break
        except Failed:
            if sequence_first:
                raise
    back = not sequence_first and isinstance(result, Tensor) and tuple(result.shape) == (L, B, WIDTH)
    out = (
        ""
        if back or found_output(result, (B, L, WIDTH))
        else ending(module, form, _given(ids, raw, sequence_first), seen, ((B, L, WIDTH), (L, B, WIDTH)))
    )
    how = (form, out, raw, sequence_first)
    turned, places = _first(seen, ids, module, *how) if ids else (False, {})
    if not ids and not out and not back:
        return made, module
    words = f"{places!r}{f', out={out!r}' if out else ''}{', turned=True' if turned else ''}"
    words += (f", raw={raw}" if raw else "") + (", back=True" if back else "")
    return replace(made, text=f"handed({made.text}, {words})"), Handed(module, places, out, turned, raw, back)


def is_table(part: nn.Module) -> bool:
    """Return whether a module gives rows of its only parameter for ids."""
    if isinstance(part, nn.Embedding):
        return True
    own = list(part.parameters())
    if isinstance(part, nn.Linear) or len(own) != 1 or own[0].ndim != 2 or any(True for _ in part.children()):
        return False
    ids = torch.tensor([[1, 0]]) % max(len(own[0]), 1)
    try:
        rows = attempt(lambda: part(ids))
    except Failed:
        return False
    return isinstance(rows, Tensor) and rows.shape == (*ids.shape, own[0].shape[1]) and torch.equal(rows, own[0][ids])


def idle_tables(made: Construction, form: Form, space: dict[str, Any]) -> list[str]:
    """Return the tables of a model behind which vectors are handed in, that no output for ids comes from."""
    words = expression_of(made.text)
    if not (isinstance(words, ast.Call) and ast.unparse(words.func) == "handed"):
        return []
    try:
        module = attempt(lambda: run(replace(made, text=ast.unparse(words.args[0])), space))
        places = ast.literal_eval(words.args[1])
        result = called_with(module, form, _given([slot for slot in form.slots if slot.name in places]))
    except Failed:
        return []
    parts = {name: m for name, m in module.named_modules() if is_table(m)}
    tables = {f"{name}.{each}": p for name, m in parts.items() for each, p in m.named_parameters()}
    out = sum(x.sum() for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad)
    if not isinstance(out, Tensor) or not tables:
        return []
    found = torch.autograd.grad(out, list(tables.values()), allow_unused=True)
    return [name for name, gradient in zip(tables, found, strict=True) if gradient is None]


def _projected(module: nn.Module) -> int:
    """Return how wide the vectors are that a model projects first, where it embeds no ids; 0 where it does not."""
    parts = [m for m in module.modules() if isinstance(m, nn.Linear) or is_table(m)]
    first = parts[0] if parts and isinstance(parts[0], nn.Linear) else None
    widens = first is not None and first.out_features == WIDTH != first.in_features
    return first.in_features if widens and not any(map(is_table, parts)) else 0  # type: ignore[union-attr]  # there is a first


def _given(ids: Sequence[Slot], raw: int = 0, sequence_first: bool = False) -> Callable[[Slot], Any]:
    """Return what the slots of a form get: ids for some of them, vectors for other inputs, nothing for masks."""
    lengths = {"x": L, "memory": S, "source": S, "target": L}
    longest = max((lengths[slot.role] for slot in ids), default=L)  # that of the source, where there is one

    def what(slot: Slot) -> Any:
        if slot in ids:
            return (
                torch.zeros(B, lengths[slot.role], raw, dtype=torch.float64)
                if raw
                else torch.full((B, lengths[slot.role]), ID)
            )
        if slot.role == "segments":
            return torch.zeros(B, longest, dtype=torch.long)
        if slot.role == "lengths" and slot.required:
            return torch.full((B,), longest)
        return drawn(slot.role, B, lengths[slot.role], WIDTH) if slot.role in lengths else None

    def turned(slot: Slot) -> Any:
        given = what(slot)
        return given.transpose(0, 1) if isinstance(given, Tensor) and given.ndim > 1 else given

    return turned if sequence_first else what


def _asks_for_ids(module: nn.Module, form: Form) -> bool:
    """Return whether a call with vectors fails."""
    try:
        with restored(module):
            called_with(module, form, _given(()))
    except Failed:
        return True
    return False


def _first(
    seen: list[Seen],
    ids: Sequence[Slot],
    module: nn.Module,
    form: Form,
    out: str,
    raw: int,
    sequence_first: bool,
) -> tuple[bool, dict[str, str]]:
    """Return where the layers begin: where vectors can be handed such that no id matters any more. Raises Failed."""
    found: list[dict[str, str]] = [{}, {}, {}]
    turned = False
    for slot in ids:
        length = S if slot.role == "source" else L
        shapes = ((B, length, WIDTH), (length, B, WIDTH))
        at = next((i for i, s in enumerate(seen) if s.attends and s.takes in shapes), None)
        if at is None and not any(s.attends for s in seen) and len(ids) == 1:
            return _first_within(seen, slot, module, form, out, shapes)
        if at is None:
            raise Failed("where its layers begin is not found")
        turned = (seen[at].takes == shapes[1]) != sequence_first
        before = [s.name for s in seen[:at] if s.gives == seen[at].takes]
        found[0][slot.name] = f"input of {seen[at].name}"
        found[1][slot.name] = f"output of {before[-1]}" if before else found[0][slot.name]
        taking = [s.name for s in seen[: at + 1] if s.takes == seen[at].takes]  # a sum goes to a norm, and is added to
        calls = (calls_before(module, form, _given(ids, raw, sequence_first), name) for name in taking)
        found[2][slot.name] = next((call[0] for call in calls if call), found[0][slot.name])
    for places in found:
        with restored(module):
            deaf = _deaf(Handed(module, places, out, turned, raw), form, sequence_first)
        if deaf:
            return turned, places
    raise Failed("what it embeds cannot be replaced by vectors")


def _first_within(
    seen: list[Seen], slot: Slot, module: nn.Module, form: Form, out: str, shapes: Sequence[tuple[int, ...]]
) -> tuple[bool, dict[str, str]]:
    """Return where layers begin that a model computes itself, of parts none of which attends. Raises Failed.

    It is the last that a function of torch gives before the first matrix, such that no id matters any more.
    """
    at = next((i for i, s in enumerate(seen) if s.mixes and s.takes in shapes), None)
    if at is None:
        raise Failed("where its layers begin is not found")
    taking = [s.name for s in seen[: at + 1] if s.takes == seen[at].takes]
    turned = seen[at].takes == shapes[1]
    for name in reversed(taking):
        for call in calls_before(module, form, _given([slot]), name):
            with restored(module):
                if _deaf(Handed(module, {slot.name: call}, out, turned), form, False):
                    return turned, {slot.name: call}
    raise Failed("what it embeds cannot be replaced by vectors")


def _deaf(model: Handed, form: Form, sequence_first: bool) -> bool:
    """Return whether the tables of what is embedded, or the first projection, change nothing."""
    vectors = _given((), 0, sequence_first)
    first = output_of(called_with(model, form, vectors))
    for part in model.modules():
        if isinstance(part, nn.Embedding) or (isinstance(part, nn.Linear) and part.in_features == model.raw):
            part.weight = nn.Parameter(part.weight.detach() + 1 + torch.arange(part.weight.shape[1]) % 3)
    return torch.allclose(first, output_of(called_with(model, form, vectors)))
