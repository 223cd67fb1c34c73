"""Layers that drop in training what nobody can choose: depth, or with a probability that is in their code."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.trial import gap, reply, same
from attnconf.conformance.source.signatures import parameters_of

PARTS = r"path|layers?|heads?|tokens?|blocks?|connect"
OTHER = rf"(stochastic_?depth|layer_?drop(?!_?out)|drop_?({PARTS}))(_?(rate|prob\w*|p))?"
WORDS = "training in which nothing is dropped"
DRAWS = 32  # calls in training: a layer of two samples is dropped rarely


def with_dropping(place: Place, text: LayerText, asked: Request) -> LayerText:
    """Return the text, which refuses training where something is dropped then that no argument is for.

    ``asked``: a call without dropout. What drops in evaluation too, or more than its argument for dropout says, is
    wrong, and no such text.
    """
    if not hasattr(asked.config, "training") or ("dropout" in text.made.given and not any(_other_dropping(place))):
        return text
    implementation = text.implementation(place, {})
    training = replace(asked.config, training=True)
    still = [reply(implementation, asked.asked(seed=seed)) for seed in (0, 1)]
    if any(isinstance(r, Failure) for r in still) or gap(*still):
        return text
    drawn = (reply(implementation, asked.asked(config=training, seed=seed)) for seed in range(DRAWS))
    ran = (r for r in drawn if not isinstance(r, Failure))
    first = next(ran, still[0])
    if all(same(r, first) for r in ran):
        return text  # what is always other in training drops nothing: it is wrong, in training
    return text.but(refusals=(*text.refusals, ("config.training", WORDS)))


def _other_dropping(place: Place) -> Iterator[str]:
    """Yield the options of a file's constructors and configurations that drop something else."""
    for thing in vars(place.module).values():
        if isinstance(thing, type) and thing.__module__ == place.module.__name__:
            names = [f.name for f in fields(thing)] if is_dataclass(thing) else [p.name for p in parameters_of(thing)]
            yield from (name for name in names if re.fullmatch(OTHER, name))
