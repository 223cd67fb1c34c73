"""Models of pictures, patches or sound: tokens are made of what they take, and vectors are put in behind that."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.vector_input import Handed
from attnconf.conformance.inference.building.building import Construction
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
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output, restored
from attnconf.conformance.inference.trials.trial import drawn

SIDES = (32, 28, 64, 16, 224)  # of a picture, in pixels
Taken = tuple[int, ...]  # channels, height, width; or tokens and their features; or features and frames; -1: its width
N = 9  # tokens of the vectors that are put in: no size that a channel or a feature has by itself
ROWS = 12  # tokens of what is handed over where nothing says how many


def pictured(made: Construction, module: nn.Module, form: Form) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that it takes vectors where tokens were made. Raises Failed."""
    slot = next(slot for slot in form.slots if slot.role == "x")
    taken, seen, result = _taken(made, module, form, slot)
    at = next((i for i, s in enumerate(seen) if s.attends and _tokens(s.takes)), None)
    if at is None:
        raise Failed("where its layers begin is not found")
    begins = seen[at].takes or ()
    turned = begins[0] != B
    shapes = (begins, (begins[1], begins[0], WIDTH))
    out = "" if found_output(result, begins) else ending(module, form, _given(slot, taken), seen, shapes)
    before = [s for s in seen[:at] if not f"{seen[at].name}.".startswith(f"{s.name}.")]
    for place, passed in _places(module, form, _given(slot, taken), seen[at], before):
        places = {slot.name: place}
        with suppress(Failed), restored(module):
            if _deaf(Handed(module, places, out, turned, taken), form, slot, [s.name for s in passed]):
                break
    else:
        raise Failed("what it makes its tokens of cannot be replaced by vectors")
    words = f"{places!r}{f', out={out!r}' if out else ''}{', turned=True' if turned else ''}, raw={taken!r}"
    return replace(made, text=f"handed({made.text}, {words})"), Handed(module, places, out, turned, taken)


def takes_pictures(module: nn.Module, form: Form) -> bool:
    """Return whether a module may take other things than vectors for its tokens, or make others of these.

    It does not give a vector for each that it is given, or its layers get one more.
    """
    needed = [slot for slot in form.slots if slot.required]
    if [slot.role for slot in needed] != ["x"] or not (_cuts(module) or _adds(module)):
        return False
    with suppress(Failed), restored(module):
        x = drawn("x", B, N, WIDTH)
        seen, result = watched(module, form, lambda slot: x if slot.role == "x" else None, _tokens)
        begins = next((s.takes for s in seen if s.attends and s.takes), x.shape)
        return _adds(module) and (found_output(result, tuple(x.shape)) is None or begins == (B, N + 1, WIDTH))
    return True


def _cuts(module: nn.Module) -> bool:
    """Return whether something gives the model's width: a convolution, or a projection of what is not as wide."""
    linear = next((part for part in module.modules() if isinstance(part, nn.Linear)), None)
    projects = linear is not None and linear.out_features == WIDTH != linear.in_features
    return projects or any(isinstance(part, nn.Conv1d | nn.Conv2d) for part in module.modules())


def _adds(module: nn.Module) -> bool:
    """Return whether a model has rows of its own as wide as it is: of positions, or a token."""
    own = (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
    return any(p.ndim > 1 and p.shape[-1] == WIDTH for _, p in own)


# -- what it takes


def _taken(made: Construction, module: nn.Module, form: Form, slot: Slot) -> tuple[Taken, list[Seen], Any]:
    """Return the shape of something that the module takes, and what a call with it does. Raises Failed."""
    words = ""
    for taken in dict.fromkeys(_shapes(made, module)):
        try:
            return taken, *watched(module, form, _given(slot, taken), _tokens)
        except Failed as error:
            words = words or str(error)
    raise Failed(words)


def _shapes(made: Construction, module: nn.Module) -> Iterator[Taken]:
    """Yield what a module may take, the likeliest first, by the first part that it has and the sizes that it got."""
    first = next((part for part in module.modules() if isinstance(part, nn.Conv1d | nn.Conv2d | nn.Linear)), None)
    said = [n for n in map(int, re.findall(r"=(\d+)\b(?!\.)", made.text)) if n > N]
    lengths = [n for size in (*said, ROWS) for n in (size, 2 * size)]
    if isinstance(first, nn.Conv1d):
        yield from ((first.in_channels, n) for n in lengths)
        return
    if isinstance(first, nn.Linear):
        yield from ((n, first.in_features if first.in_features != WIDTH else -1) for n in lengths)
    sides = (*(n for n in said if n in SIDES), *SIDES)
    for channels in (first.in_channels if isinstance(first, nn.Conv2d) else 3, 3, 1):
        yield from ((channels, side, side) for side in sides)


def _given(slot: Slot, taken: Taken) -> Callable[[Slot], Any]:
    sizes = [WIDTH if size < 0 else size for size in taken]
    return lambda one: torch.zeros(B, *sizes, dtype=torch.float64) if one.name == slot.name else None


def _tokens(shape: tuple[int, ...] | None) -> bool:
    """Return whether these are vectors for the tokens of a batch."""
    return shape is not None and len(shape) == 3 and shape[-1] == WIDTH and B in shape[:2]


# -- where its layers begin


def _places(
    module: nn.Module, form: Form, what: Callable[[Slot], Any], first: Seen, before: Sequence[Seen]
) -> Iterator[tuple[str, Sequence[Seen]]]:
    """Yield where vectors may be put in, and the parts before that: what a layer adds to may go to its norm alone."""
    yield f"input of {first.name}", before
    giving = [s.name for s in before if s.gives == first.takes]
    if giving:
        yield f"output of {giving[-1]}", before
    for i, one in enumerate((*before, first)):
        if one.takes == first.takes:
            yield from ((call, before[:i]) for call in calls_before(module, form, what, one.name))


def _deaf(model: Handed, form: Form, slot: Slot, before: Sequence[str]) -> bool:
    """Return whether what comes before the layers changes nothing."""
    vectors = drawn("x", B, N, WIDTH)

    def called() -> Tensor:
        return output_of(called_with(model, form, lambda one: vectors if one.name == slot.name else None))

    first = called()
    parts = [part for name in before for part in attempt(lambda name=name: model.whole.get_submodule(name)).modules()]  # type: ignore[misc]
    for part in (model.whole, *parts):
        for key, p in part.named_parameters(recurse=False):
            setattr(part, key, nn.Parameter(p.detach() + 1 + torch.arange(p.shape[-1] if p.ndim else 1) % 3))
    return first.shape == vectors.shape and torch.allclose(first, called())
