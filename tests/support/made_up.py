"""A request, and implementations made up on the spot, for the tests of the door."""

from dataclasses import replace

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.chapters.attention.stimuli import SHAPE
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation, Request

CASE = SHAPE.case("door", B=2, H=3, L=5, S=4, E=7, F=6)
NAMES = ("query", "key", "value")


def request(**changes):
    """Return a request for attention on the case's q, k and v."""
    inputs = dict(zip(NAMES, (CASE.q, CASE.k, CASE.v), strict=True))
    return replace(Request("attention", AttentionConfig(), {}, inputs, (2, 3, 5, 6)), **changes)


def through(forward, binding=None, **changes):
    """Return the reply of ``forward(query, key, value, **options)`` to the request, changed."""
    return call(
        Implementation("made-up", {"attention": lambda config, weights: forward}, binding=binding), request(**changes)
    )


def right(query, key, value, **options):
    forward = apply([]).components["attention"](AttentionConfig(), {})
    return forward(query, key, value, **options)
