"""Weights that are tensors which want gradients and no parameters: they are bound, and it is said."""

from dataclasses import replace
from typing import Any

from torch import nn

from attnconf.adapters.generated.modules import loose
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed

SHOWN = 3  # names in a message


def words_on_loose(place: Place, made: Construction, config: Any) -> tuple[str, ...]:
    """Return words on the tensors of a module that want gradients and are no parameters; none without one."""
    try:
        module = build(place, replace(made, text=made.text.replace("registered(", "(", 1)), config)
    except Failed:
        return ()
    if not isinstance(module, nn.Module):
        return ()
    above = {id(part): f"{name}." if name else "" for name, part in module.named_modules()}
    names = [f"`{above[id(part)]}{name}`" for part, name, _ in loose(module)]
    if not names:
        return ()
    shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    return (f"{shown}: tensors and no parameters; no optimizer finds them, and no .to() and state_dict has them",)
