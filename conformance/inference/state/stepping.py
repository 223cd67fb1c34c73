"""Methods that take a sequence part by part, beside the call that takes it whole: both have to give the same.

A method is asked where it is called a step, takes what the call takes, keeps something in its object, and gives for the
first part what the call gives. Methods that begin a sequence, by their names, are called before each of two. Several
positions behind others are asked for where words say that they may come. Methods of other names are in ``by_steps``.
"""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.state.by_steps import NOT_ANEW, may_step, of_the_sequence_before, wanted
from attnconf.conformance.inference.state.kept_state import SEVERAL
from attnconf.conformance.inference.state.said_of_caches import as_promised
from attnconf.conformance.inference.state.stepped import IN_PARTS, Stepped, another, held, sequences, with_another_first
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import reply, same_numbers
from attnconf.conformance.inference.words.vocabulary import snake

STEP = (
    r"(forward_|decode_|run_)?(one_|next_|single_|incremental_)?(step|incremental|decode_one)(_forward)?"
    r"|forward_(cached|chunk|incremental)|"
    r"(attend|decode|process|push|feed|stream|extend|append|advance|consume|ingest|read)(_(chunk|next|cached))?"
)
BEGIN = (
    r"(start|begin|reset|restart|clear|new|init|empty|forget|drop|flush|free|release)"
    r"(_(?!.*(param|weight|grad|hook|drop|layer|bias))\w+)?"
)


def of_steps(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on a method for one position after the other that does not give what the call gives."""
    thing, call = bound.place.thing, call_of(bound.place.thing).__name__
    steps = _methods(thing, STEP)
    if len(steps) > 1:  # attend may be what both use
        steps = [n for n in steps if len(wanted(getattr(thing, n))) == len(wanted(call_of(thing)))]
    named = len(steps) == 1 and bool(_methods(thing, BEGIN))
    if call in steps or not (named or may_step(thing, call)):
        return
    words: list[str] = []

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        if not words:
            words.append("")
            (_, module), *rest = inspect.signature(described).bind_partial(*args, **kwargs).arguments.items()
            ask = partial(_of, name=steps[0]) if named else partial(of_the_sequence_before, call=call)
            with contextlib.suppress(Failed):
                words[0] = attempt(lambda: ask(module, function, dict(rest)))
        return returned

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked)
    yield from filter(None, (_said(bound.place, steps[0], told) if named else told for told in words))


def _said(place: Place, name: str, told: str) -> str:
    """Return words on a step such that several positions at once count only where somebody says that they may come."""
    described = f"{inspect.getdoc(place.module) or ''} {inspect.getdoc(getattr(place.thing, name)) or ''}"
    if told != SEVERAL:
        return told
    return f"the method `{name}` {SEVERAL}" if as_promised(place, told, described) == SEVERAL else ""


def _of(module: Any, function: Callable[..., Any], given: dict[str, Any], name: str) -> str:
    """Return a word on the step of an object whose call was given this; "" where it is right, or is not understood."""
    first = next(iter(given))
    begin = _methods(type(module), BEGIN)
    if not begin or not sequences(given):
        return ""
    stepped = Stepped(
        lambda asked: function(module, **asked), getattr(module, name), [getattr(module, n) for n in begin], first
    )
    one, other = ({n: another(y, n + which) for n, y in given.items()} for which in ("", ", again"))
    want, before = stepped.whole(one), held(module)
    if not looks_back_alone(stepped, one, want):
        return ""
    outs = stepped.stepwise(one)
    if held(module) == before or not same_numbers(outs[:, :1], want[:, :1]):
        return ""
    if not same_numbers(outs, want):
        if same_numbers(stepped.stepwise(one, so_far=True), want):
            return ""
        return f"the method `{name}` does not continue a sequence: a later position is not what it is in the whole"
    if not stepped.begins_anew(other):
        return NOT_ANEW.format(begin[0], name)
    return SEVERAL if several_differ(stepped, one, want) else ""


def several_differ(stepped: Stepped, given: Mapping[str, Any], want: Tensor) -> bool:
    """Return whether a step takes several positions at the beginning, and gives others for them later."""
    with contextlib.suppress(Failed):  # parts that are refused are no mistake
        outs, first = attempt(lambda: stepped.stepwise(given, IN_PARTS)), IN_PARTS[0]
        return same_numbers(outs[:, :first], want[:, :first]) and not same_numbers(outs, want)
    return False


def looks_back_alone(stepped: Stepped, given: Mapping[str, Any], want: Tensor) -> bool:
    """Return whether positions on axis 1 depend on those before them, and on none behind."""
    x = given[stepped.first]
    shorter = stepped.whole({**given, stepped.first: x[:, :-1]})
    changed = stepped.whole({**given, stepped.first: with_another_first(x)})
    return same_numbers(shorter, want[:, :-1]) and not same_numbers(changed[:, 1:], want[:, 1:])


def _methods(thing: Any, names: str) -> list[str]:
    """Return the methods of a class of such names."""
    found = vars(thing) if isinstance(thing, type) else {}
    return [n for n, m in found.items() if inspect.isfunction(m) and re.fullmatch(names, snake(n))]
