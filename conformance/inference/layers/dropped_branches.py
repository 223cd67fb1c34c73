"""What leaves out branches of some samples in training: those that stay are to be larger, so that the mean is kept.

It is a class or function of its own, or a rate that a constructor takes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import having_default
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import reply, same_numbers
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

NAMES = r"_*(sample_?)?(drop_?(paths?|branch|residual)|(path|branch)_?drop(out)?|stochastic_?depth)(_?layer|_?module)?"
RATES = rf"({NAMES}|(path|branch)_?drop)_?(rate|prob(ability)?|p)?"  # of a constructor
DRAWS = 24
OPTION = r"scal"  # what may let the caller choose: it does where its other value keeps the mean
SAMPLES, RATE = 400, 0.25  # of being left out, or of staying: names do not say which
NEAR = 0.1  # to how many stay
LESS = "in training {} leaves out {}, and does not divide those that stay by how likely they are to stay"


def unscaled(place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return words on what leaves out branches, and neither enlarges the others as it should nor ever shrinks them.

    Those on a mistake come first, then those on what an option of it decides (timm's `scale_by_keep`).
    It is built with a rate as its first argument.
    """
    reached = code_reached(place.thing)
    own = [thing for name, thing in vars(place.module).items() if re.fullmatch(NAMES, snake(name))]
    found = [t for t in own if re.search(rf"\b{t.__name__}\b", reached) and isinstance(t, type | FunctionType)]
    less = [thing for thing in found if 0 < _mean_kept(thing) < 1 - NEAR][:1]
    said = tuple(LESS.format(thing.__name__, "samples") for thing in less)
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


# -- a rate that a constructor takes


def by_rate(place: Place, text: LayerText, asked: Request) -> Iterator[str]:
    """Yield a word on a rate of a constructor by which branches are left out, where those that stay are not enlarged.

    All branches but the last attention's are nothing, so that of each sample its branch is there or is not.
    """
    options = parameters_of(place.thing) if isinstance(place.thing, type) else []
    for p in options:
        named = re.fullmatch(RATES, snake(p.name)) and type(p.default) in (int, float) and p.default == 0
        if not named or f"{p.name}=" in text.made.text or not hasattr(asked.config, "training"):
            continue
        alone = {scale: _with_one_branch(asked, scale) for scale in (0.0, 1.0, 1 - RATE, 1 / (1 - RATE))}
        plain = {scale: _outs(place, text, [one])[:1] for scale, one in alone.items()}
        if not all(plain.values()) or same_numbers(plain[1.0][0], plain[1 / (1 - RATE)][0]):
            continue
        with having_default(place.thing, p.name, RATE):
            evaluated = _outs(place, text, [alone[1.0]])
            training = replace(alone[1.0], config=replace(asked.config, training=True))
            trained = _outs(place, text, [training.asked(seed=seed) for seed in range(DRAWS)])
        known = {scale: out[0] for scale, out in plain.items()}
        before, after = _scales(known, trained), _scales(known, evaluated)
        if len(after) == 1 and len(before) == 2 and 0.0 in before and abs(max(before) * (1 - RATE) - max(after)) > NEAR:
            yield LESS.format(f"`{p.name}`", "branches of samples")


def _with_one_branch(asked: Request, scale: float) -> Request:
    """Return a call on weights with which only the last attention adds something, times ``scale``."""
    ends = [name for name in asked.weights if re.search(r"(^|\.)(out|ff\.down)\.(weight|bias)$", name)]
    last = [name for name in ends if name.endswith("out.weight")][-1].removesuffix("weight")
    scaled = {name: asked.weights[name] * (scale if name.startswith(last) else 0.0) for name in ends}
    return replace(asked, weights={**asked.weights, **scaled})


def _outs(place: Place, text: LayerText, requests: list[Request]) -> list[Tensor]:
    """Return what comes out of calls; nothing where one of them fails."""
    made = text.implementation(place)
    outs = [answer.out for one in requests if not isinstance(answer := reply(made, one), Failure)]
    return outs if len(outs) == len(requests) else []


def _scales(known: Mapping[float, Tensor], outs: list[Tensor]) -> set[float]:
    """Return how large the branch is in the samples of what came out; nothing where one is like none that is known."""
    found = set[float]()
    for out in outs:
        for b in range(len(out)):
            like = [scale for scale, one in known.items() if same_numbers(one[b], out[b])]
            if not like:
                return set()
            found.add(like[0])
    return found
