"""Parameters that a layer uses and that are no weights of ours: they stay at what they begin with, and it is said."""

import torch

from attnconf.conformance.inference.building.building import run, space_for
from attnconf.conformance.inference.layers.probe import Probe
from attnconf.conformance.inference.layers.state import uncovered
from attnconf.conformance.inference.texts.layer_requests import FIRST, plain_requests
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt

SHOWN = 3  # names in a message


def unread(place: Place, text: LayerText) -> tuple[str, ...]:
    """Return a word on the parameters that no entry gives a value and that the output depends on; none without one."""
    names = uncovered(text.entries, text.stacks, text.used)
    try:
        heard = _heard(place, text, names) if names else []
    except Failed:
        return ()
    if not heard:
        return ()
    shown = ", ".join(heard[:SHOWN]) + (", …" if len(heard) > SHOWN else "")
    return (f"{shown}: no weight of {text.component}, and what comes out depends on it; judged as it begins",)


def _heard(place: Place, text: LayerText, names: list[str]) -> list[str]:
    """Return those of these parameters that the output depends on. Raises Failed."""
    config = plain_requests(text)[0].config
    module = attempt(lambda: run(text.made, space_for(config, place.module)))
    probe = Probe(module, text.form, text.component, FIRST)
    probe.sequence_first = text.sequence_first
    inputs = probe.inputs(3, 5)

    def output(name: str) -> torch.Tensor:
        own = {n: p + (n == name) * torch.linspace(0.5, 1.5, p.numel()).view_as(p) for n, p in probe.parameters.items()}
        found: torch.Tensor = eval(text.out, {"result": probe.run(inputs, own)})
        return found

    plain = output("")
    return [name for name in names if name in probe.parameters and not torch.allclose(output(name), plain)]
