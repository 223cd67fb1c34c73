"""What an argument for the norms' order does where it is on, of a stack that ends in a norm only then.

What has the same parameters in both positions is judged in both. A stack that has one more norm where norms come first
is judged in the other position; in this one it is compared with the textbook, that norm included.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.layer_requests import FIRST, plain_requests
from attnconf.conformance.inference.layer_state import sides_of
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.layer_units import Unit, norm_entries
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import FAILED, Certificate, names

COMPUTES = "where it is True, computes something else than layers whose norms come first and a norm behind them"


@dataclass(frozen=True)
class OtherOrder:
    """What is known of a class whose norms come first, where by default they do not."""

    alike: bool  # it has the same parameters in both orders
    told: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def other_order(place: Place, text: LayerText) -> OtherOrder:
    """Return whether a class has the same parameters in both orders, and else what it computes in the other one."""
    config = replace(plain_requests(text)[0].config, norm_first=False)
    try:
        there, then = (_parameters(place, text, replace(config, norm_first=first)) for first in (False, True))
    except Failed:
        return OtherOrder(True)
    if there.keys() == then.keys():
        return OtherOrder(True)
    name = _argument(text)
    lasts = [side.last for side in sides_of(text.component, (2, 2)) if side.last]
    groups = _groups([n for n in then if n not in there])
    width = (FIRST.width,)
    norms = len(groups) == len(lasts) > 0 and all(then[n].shape == width for own in groups for n in own)
    if not norms or there.keys() - then.keys() or any(len(own) > 2 for own in groups):
        return OtherOrder(False, (f"{name}=True: it has other parameters then, and is not judged",))
    entries = [
        f'"{n}": weights["{last}.{kind}"]'
        for own, last in zip(groups, lasts, strict=True)
        for n, kind in norm_entries(Unit("norm", tuple(own)), then).items()
    ]
    first = {**text.declares, "norm-order": "pre", "final-norm": "always"}
    masks = {name: mask for name, mask in text.masks.items() if text.needs_mask}
    whole = text.but(entries=(*text.entries, *entries), masks=masks, declares=first)
    certificate = Certificate(text.component, plain_requests(whole))
    given = certificate.replies(whole.implementation(place))
    if certificate.agrees(given, first):
        return OtherOrder(False, (f"{name}=True: equal to the textbook, with a norm behind the last layer",))
    if certificate.distance(given, first) == FAILED:
        return OtherOrder(False, (f"{name}=True: it does not run so",))
    mistake = certificate.mistake(given, first)
    words = f"the argument `{name}` of the constructor, {COMPUTES}"
    return OtherOrder(False, (), (f"{words}: {mistake.story}" if mistake else words,))


def _parameters(place: Place, text: LayerText, config: object) -> dict[str, Tensor]:
    """Return the parameters of a class for a configuration. Raises Failed."""
    like = {"": torch.zeros(1, dtype=torch.float64)}
    space = {**names(place.module), **space_for(config, place.module, weights=like)}
    return dict(attempt(partial(run, text.made, space)).named_parameters())


def _argument(text: LayerText) -> str:
    found = re.search(r"""(\w+)["']?\]? ?[=:] ?config\.norm_first""", text.made.text)
    return found[1] if found else "norm_first"


def _groups(parameters: Sequence[str]) -> list[list[str]]:
    """Return names of parameters by their modules, in order."""
    found: dict[str, list[str]] = {}
    for name in parameters:
        found.setdefault(name.rpartition(".")[0], []).append(name)
    return list(found.values())
