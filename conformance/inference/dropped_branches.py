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
OPTION = r"scal"  # what lets the caller choose
SAMPLES, RATE = 400, 0.25  # of being left out, or of staying: names do not say which
NEAR = 0.1  # to how many stay


def unscaled(place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return words on what leaves out branches, and neither enlarges the others as it should nor ever shrinks them.

    Those on a mistake come first, then those on what an option of it decides (timm's `scale_by_keep`).
    It is built with a rate as its first argument.
    """
    reached = code_reached(place.thing)
    own = [thing for name, thing in vars(place.module).items() if re.fullmatch(NAMES, snake(name))]
    found = [t for t in own if re.search(rf"\b{t.__name__}\b", reached) and isinstance(t, type | FunctionType)]
    words = "in training {} leaves out samples, and does not divide those that stay by how likely they are to stay"
    less = [thing for thing in found if _keeps_less(thing)][:1]
    said = tuple(words.format(thing.__name__) for thing in less)
    return ((), said) if any(re.search(OPTION, p.name) for thing in less for p in parameters_of(thing)) else (said, ())


def _keeps_less(thing: Any) -> bool:
    """Return whether ones that stay in training are all one number, too small to keep the mean; ones in evaluation."""
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            trained, evaluated = (attempt(lambda on=on: _passed(thing, on)) for on in (True, False))  # type: ignore[misc]
    except Failed:
        return False
    if not isinstance(trained, Tensor) or not isinstance(evaluated, Tensor) or not bool((evaluated == 1).all()):
        return False
    stay, share = trained[trained != 0].unique(), float((trained != 0).double().mean())
    rate = min((RATE, 1 - RATE), key=lambda one: abs(one - share))
    return len(stay) == 1 and abs(rate - share) < NEAR and 0 < float(stay[0]) * rate < 1 - NEAR


def _passed(thing: Any, training: bool) -> Any:
    """Return what becomes of ones."""
    ones = torch.ones(SAMPLES, 2, 3)
    if isinstance(thing, type):
        part = thing(RATE)
        return part.train(training)(ones) if isinstance(part, nn.Module) else None
    told = {p.name: training for p in parameters_of(thing) if re.fullmatch(r"(is_)?train(ing)?", p.name)}
    return thing(ones, RATE, **told) if told else None
