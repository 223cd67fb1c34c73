"""What trials of few tokens do not reach of attention: a branch for long inputs, and gradients beside a mask."""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.masks.search import masks_in
from attnconf.conformance.inference.texts.attention_requests import request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.proving import holds
from attnconf.conformance.inference.trials.trial import drawn, reply, same, same_numbers, textbook
from attnconf.conformance.source.source_text import code_reached
from attnconf.conformance.source.syntax import tree_of

SHORT, LONG = 16, 2048  # tokens: what is compared with less is reached by every trial, with more is dear
BRANCHES = 2
OTHERWISE = "it computes something else for {} tokens than for few: the code compares with {}"
CUT = "where the argument `{}` is given, gradients are not those of the output: they are cut, or go another way"


def beyond(place: Place, text: AttentionText, sizes: Any) -> tuple[str, ...]:
    """Return a word on each length from which on something else is computed, and on masks that cut gradients."""
    return (*_otherwise(place, text, sizes), *_cut(place, text, sizes))


def _otherwise(place: Place, text: AttentionText, sizes: Any) -> Iterator[str]:
    """Yield a word for each number that the code compares with, if attention is not the textbook's beyond it."""
    if text.one_length or text.needs_mask:
        return
    for number in list(_compared(place))[:BRANCHES]:
        tokens = number + 1
        few, many = (_asked(text, sizes, n) for n in (SHORT, tokens))
        fits = not text.longest or tokens <= text.longest
        if fits and holds(place, text, [few]) and not holds(place, text, [many]) and _runs(place, text, many):
            yield OTHERWISE.format(tokens, number)


def _runs(place: Place, text: AttentionText, asked: Request) -> bool:
    """Return whether a call gives something: more tokens than it takes may be refused."""
    return isinstance(reply(text.implementation(place), asked), Reply)


def _asked(text: AttentionText, sizes: Any, tokens: int) -> Request:
    return request(text, sizes[0], 1, tokens, tokens, {})


def _compared(place: Place) -> Iterator[int]:
    """Yield the numbers that the code of a class compares sizes with, each once."""
    try:
        tree = tree_of(textwrap.dedent(code_reached(place.thing)))
    except (SyntaxError, ValueError):
        return
    sides = (
        side for node in ast.walk(tree) if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
    )
    numbers = (side.value for side in sides if isinstance(side, ast.Constant) and type(side.value) is int)
    yield from dict.fromkeys(n for n in numbers if SHORT <= n <= LONG)


def _cut(place: Place, text: AttentionText, sizes: Any) -> Iterator[str]:
    """Yield a word for each argument for masks beside which gradients are wrong that are right without it."""
    for name, form in text.masks.items():
        alone = text if text.needs_mask else text.but(masks={name: form})
        implementation, right = alone.implementation(place), in_conventions(textbook(), dict(alone.conventions()))
        calls = [_with_slopes(request(alone, sizes[0], 2, 6, 6, masks)) for masks in ({}, masks_in(form, 2, 6, 6))]
        replies = [(reply(implementation, asked), reply(right, asked)) for asked in calls]
        if all(same(*both) for both in replies) and [_alike(*both) for both in replies] == [True, False]:
            yield CUT.format(name)


def _with_slopes(asked: Request) -> Request:
    """Return a call of which the gradients of the projections' weights are wanted."""
    learned = tuple(name for name in asked.weights if name in ("q.weight", "k.weight", "v.weight"))
    return replace(asked, cotangent=drawn("cotangent", *asked.out_shape), wrt=learned)


def _alike(one: Reply | Failure, other: Reply | Failure) -> bool:
    """Return whether all gradients of two replies are alike."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return False
    return all(name in one.grads and same_numbers(one.grads[name], want) for name, want in other.grads.items())
