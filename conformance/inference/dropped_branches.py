"""What leaves out branches of some samples in training: those that stay are to be larger, so that the mean is kept."""

import re
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

NAMES = r"_*(sample_?)?(drop_?(paths?|branch|residual)|(path|branch)_?drop(out)?|stochastic_?depth)(_?layer|_?module)?"
SAMPLES, HALF = 400, 0.5
SOME = (0.3, 0.7)  # of the samples are left out where each is with one half


def unscaled(place: Place) -> tuple[str, ...]:
    """Return words on a class of the file that leaves out branches, and neither enlarges nor ever shrinks the others.

    It is built with one half for a rate, as its first argument.
    """
    reached = code_reached(place.thing)
    own = [thing for name, thing in vars(place.module).items() if re.fullmatch(NAMES, snake(name))]
    found = [t for t in own if re.search(rf"\b{t.__name__}\b", reached) and isinstance(t, type | FunctionType)]
    words = "in training {} leaves out samples, and does not divide those that stay by how likely they are to stay"
    return tuple(words.format(thing.__name__) for thing in found if _keeps_ones(thing))[:1]


def _keeps_ones(thing: Any) -> bool:
    """Return whether ones are ones or zeros in training, and ones in evaluation."""
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            trained, evaluated = (attempt(lambda on=on: _passed(thing, on)) for on in (True, False))  # type: ignore[misc]
    except Failed:
        return False
    if not isinstance(trained, Tensor) or not isinstance(evaluated, Tensor):
        return False
    zeros = float((trained == 0).double().mean())
    ones = bool(((trained == 0) | (trained == 1)).all()) and bool((evaluated == 1).all())
    return ones and SOME[0] < zeros < SOME[1]


def _passed(thing: Any, training: bool) -> Any:
    """Return what becomes of ones."""
    ones = torch.ones(SAMPLES, 2, 3)
    if isinstance(thing, type):
        part = thing(HALF)
        return part.train(training)(ones) if isinstance(part, nn.Module) else None
    told = {p.name: training for p in parameters_of(thing) if re.fullmatch(r"(is_)?train(ing)?", p.name)}
    return thing(ones, HALF, **told) if told else None
