"""What a class has around a feed-forward network: norms, and its input added.

A block as in a transformer is the network with a norm before it or behind it, and its input added: that the whole is
this is seen in numbers, and then the network in it is judged. A norm that stands anywhere else, or nowhere, is no part
of such a block: that it is left out is an open end.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import FeedForwardConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import drawn, same_numbers

ADDED = "out = out - x"  # the statement that takes away the input that is added
MOST = 3  # norms around one network
PLACES = ("before", "behind", "after all")


def around(text: Text) -> list[str]:
    """Return a line for the header on what a text leaves out around its network; none where that is nothing."""
    norms = [f"the norm{'s' if len(text.stripped) > 1 else ''} {', '.join(text.stripped)} left out"]
    added = ["the input that is added, subtracted again"]
    words = [*(norms if text.stripped else []), *(added if ADDED in text.after else [])]
    return [f"set aside    {'; '.join(words)}"] if words else []


def set_aside(place: Place, text: Text, config: FeedForwardConfig) -> tuple[str, ...]:
    """Return a word on norms that are left out and stand neither before the network nor behind it."""
    if not text.stripped:
        return ()
    try:
        alike = _is_block(place, text, config)
    except (Failed, RuntimeError, TypeError, ValueError):
        alike = False
    words = f"the norm{'s' if len(text.stripped) > 1 else ''} {', '.join(text.stripped)}"
    return () if alike else (f"{words} stand{'' if len(text.stripped) > 1 else 's'} neither before the network nor "
                             "behind it: left out, and not judged",)  # fmt: skip


def _is_block(place: Place, text: Text, config: FeedForwardConfig) -> bool:
    """Return whether the whole is the network with its norms before it or behind it, and its input added."""
    module = build(place, text.made, config)
    if not isinstance(module, nn.Module) or text.first or len(text.stripped) > MOST:
        return False
    whole = module.double().eval()
    x = drawn("a block's x", 2, 3, config.embed_dim)
    want = _out(whole, text, x, [s for s in text.after if s != ADDED])
    parts = {name: whole.get_submodule(name) for name in text.stripped}
    rest = without(whole, *text.stripped)
    return any(_alike(want, out) for out in _composed(parts, rest, text, x))


def _out(module: nn.Module, text: Text, x: Tensor, after: Sequence[str]) -> Tensor:
    space: dict[str, Any] = {"x": x, "torch": torch}
    space["result"] = attempt(lambda: module(eval(text.arguments, space)))
    space["out"] = eval(text.out, space)
    for statement in after:
        exec(statement, space)
    out: Tensor = space["out"]
    return out


def _composed(parts: dict[str, nn.Module], rest: nn.Module, text: Text, x: Tensor) -> Iterator[Tensor]:
    """Yield the network with each norm before it, behind it, or behind the sum."""

    def normed(places: Sequence[str], where: str, y: Tensor) -> Tensor:
        for name, place in zip(parts, places, strict=True):
            y = parts[name](y) if place == where else y
        return y

    for places in product(PLACES, repeat=len(parts)):
        out = normed(places, "behind", _out(rest, text, normed(places, "before", x), text.after))
        yield normed(places, "after all", x + out if ADDED in text.after else out)


def _alike(one: Tensor, other: Tensor) -> bool:
    one, other = one.detach(), other.detach()
    return same_numbers(other, one)
