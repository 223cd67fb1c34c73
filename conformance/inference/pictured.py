"""Models that take pictures: the patches of one are tokens, and vectors are put in where its layers begin."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.vector_input import Handed
from attnconf.conformance.inference.building import Construction
from attnconf.conformance.inference.calling import Form, Slot
from attnconf.conformance.inference.probing import Failed, attempt, found_output, restored
from attnconf.conformance.inference.trial import drawn
from attnconf.conformance.inference.watching import WIDTH, B, Seen, called_with, from_the_end, last, output_of, watched

SIDES = (32, 28, 64, 16, 224)  # of a picture, in pixels
Picture = tuple[int, ...]  # channels, height, width
N = 5  # tokens of the vectors that are put in


def pictured(made: Construction, module: nn.Module, form: Form) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that it takes vectors where it took pictures. Raises Failed."""
    slot = next(slot for slot in form.slots if slot.role == "x")
    picture, seen, result = _taken(module, form, slot)
    at = next((i for i, s in enumerate(seen) if s.attends and _tokens(s.takes)), None)
    if at is None:
        raise Failed("where its layers begin is not found")
    begins = seen[at].takes or ()
    turned = begins[0] != B
    shapes = (begins, (begins[1], begins[0], WIDTH))
    out = "" if found_output(result, begins) else from_the_end(last(seen, shapes), module)
    places = {slot.name: f"input of {seen[at].name}"}
    before = [s.name for s in seen[:at] if not f"{seen[at].name}.".startswith(f"{s.name}.")]
    with restored(module):
        if not _deaf(Handed(module, places, out, turned, picture), form, slot, before):
            raise Failed("what it makes of a picture cannot be replaced by vectors")
    words = f"{places!r}{f', out={out!r}' if out else ''}{', turned=True' if turned else ''}, raw={picture!r}"
    return replace(made, text=f"handed({made.text}, {words})"), Handed(module, places, out, turned, picture)


def takes_pictures(module: nn.Module, form: Form) -> bool:
    """Return whether a module may take pictures: it has a part that cuts them, and a call with vectors fails."""
    needed = [slot for slot in form.slots if slot.required]
    if [slot.role for slot in needed] != ["x"] or not _cuts(module):
        return False
    with suppress(Failed), restored(module):
        called_with(module, form, lambda slot: drawn("x", B, N, WIDTH) if slot.role == "x" else None)
        return False
    return True


def _cuts(module: nn.Module) -> bool:
    """Return whether something gives the model's width: a convolution, or a projection of what is not as wide."""
    linear = next((part for part in module.modules() if isinstance(part, nn.Linear)), None)
    projects = linear is not None and linear.out_features == WIDTH != linear.in_features
    return projects or any(isinstance(part, nn.Conv2d) for part in module.modules())


def _taken(module: nn.Module, form: Form, slot: Slot) -> tuple[Picture, list[Seen], Any]:
    """Return a picture that the module takes, and what a call with it does. Raises Failed."""
    first = next((part.in_channels for part in module.modules() if isinstance(part, nn.Conv2d)), 3)
    words = ""
    for channels in dict.fromkeys((first, 3, 1)):
        for side in SIDES:
            picture = (channels, side, side)
            try:
                return picture, *watched(module, form, _given(slot, picture), _tokens)
            except Failed as error:
                words = words or str(error)
    raise Failed(words)


def _given(slot: Slot, picture: Picture) -> Callable[[Slot], Any]:
    return lambda one: torch.zeros(B, *picture, dtype=torch.float64) if one.name == slot.name else None


def _tokens(shape: tuple[int, ...] | None) -> bool:
    """Return whether these are vectors for the tokens of a batch."""
    return shape is not None and len(shape) == 3 and shape[-1] == WIDTH and B in shape[:2]


def _deaf(model: Handed, form: Form, slot: Slot, before: Sequence[str]) -> bool:
    """Return whether what comes before the layers changes nothing."""
    vectors = drawn("x", B, N, WIDTH)

    def called() -> Tensor:
        return output_of(called_with(model, form, lambda one: vectors if one.name == slot.name else None))

    first = called()
    for name in before:
        for part in attempt(lambda name=name: model.whole.get_submodule(name)).modules():  # type: ignore[misc]
            for key, p in part.named_parameters(recurse=False):
                setattr(part, key, nn.Parameter(p.detach() + 1 + torch.arange(p.shape[-1]) % 3))
    return torch.allclose(first, called())
