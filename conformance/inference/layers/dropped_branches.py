"""What leaves out branches of some samples in training: those that stay are to be larger, so that the mean is kept."""

import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

NAMES = r"_*(sample_?)?(drop_?(paths?|branch|residual)|(path|branch)_?drop(out)?|stochastic_?depth)(_?layer|_?module)?"
OPTION = r"scal"  # what may let the caller choose: it does where its other value keeps the mean
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
    less = [thing for thing in found if 0 < _mean_kept(thing) < 1 - NEAR][:1]
    said = tuple(words.format(thing.__name__) for thing in less)
    return ((), said) if any(map(_lets_choose, less)) else (said, ())


def _lets_choose(thing: Any) -> bool:
    """Return whether an option keeps the mean that the default does not keep."""
    options = [p for p in parameters_of(thing) if type(p.default) is bool and re.search(OPTION, p.name)]
    return any(abs(_mean_kept(thing, **{p.name: not p.default}) - 1) < NEAR for p in options)


def _mean_kept(thing: Any, **options: bool) -> float:
    """Return what becomes of the mean of ones in training: 1 where it is kept.

    0 where this leaves out nothing, where those that stay differ, or where evaluation changes them.
    """
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            trained, evaluated = (attempt(lambda on=on: _passed(thing, on, options)) for on in (True, False))  # type: ignore[misc]
    except Failed:
        return 0.0
    if not isinstance(trained, Tensor) or not isinstance(evaluated, Tensor) or not bool((evaluated == 1).all()):
        return 0.0
    stay, share = trained[trained != 0].unique(), float((trained != 0).double().mean())
    rate = min((RATE, 1 - RATE), key=lambda one: abs(one - share))
    return float(stay[0]) * rate if len(stay) == 1 and abs(rate - share) < NEAR else 0.0


def _passed(thing: Any, training: bool, options: Mapping[str, bool]) -> Any:
    """Return what becomes of ones."""
    ones = torch.ones(SAMPLES, 2, 3)
    if isinstance(thing, type):
        part = thing(RATE, **options)
        return part.train(training)(ones) if isinstance(part, nn.Module) else None
    told = {p.name: training for p in parameters_of(thing) if re.fullmatch(r"(is_)?train(ing)?", p.name)}
    return thing(ones, RATE, **told, **options) if told else None
