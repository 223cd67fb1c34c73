"""Widths of the model that a class cannot be built in: a table of sines and cosines beside each other has pairs."""

from functools import partial

import torch

from attnconf.conformance.inference.building.building import run, space_for
from attnconf.conformance.inference.texts.layer_requests import FIRST, request
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.worker.bodies import names

ODD, EVEN = ((5, 5), (3, 5), (3, 7)), ((5, 6), (3, 4), (2, 5))  # heads, and the width of each
REFUSAL = ("config.embed_dim % 2", "an odd width of the model")


def with_even_widths(place: Place, text: LayerText) -> LayerText:
    """Return the text that declares an even width of the model, where nothing can be built in an odd one."""
    if "model-width" not in text.known.conventions or any(_builds(place, text, *sizes) for sizes in ODD):
        return text
    if not all(_builds(place, text, *sizes) for sizes in EVEN):
        return text
    return text.but(declares={**text.declares, "model-width": "2"}, refusals=(*text.refusals, REFUSAL))


def _builds(place: Place, text: LayerText, heads: int, width: int) -> bool:
    config = request(text.component, text.declares, FIRST.but(heads=heads, head_width=width), (2, 2)).config
    like = {"": torch.zeros(1, dtype=torch.float64)}
    space = {**names(place.module), **space_for(config, place.module, weights=like)}
    try:
        attempt(partial(run, text.made, space))
    except Failed:
        return False
    return True
