"""Masks that have no effect until an option of the construction is on: they are left alone, and nobody ignores them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.masks.search import unmasked
from attnconf.conformance.inference.texts.layer_text import LayerMask, LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import reply, same
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of

UNTIL = "it has no effect until"


def without_turned_off(
    place: Place,
    text: LayerText,
    standing: Callable[[LayerText, LayerMask], str],
    requests: Callable[[LayerMask], Sequence[Request]],
) -> LayerText:
    """Return the text without masks that have no effect, and would have one if an option were on."""
    for name, form in text.masks.items():
        option = _turned_off(place, text, name, requests(form))
        if option and not standing(text, form):
            masks = {n: mask for n, mask in text.masks.items() if n != name}
            text = text.but(masks=masks, left_alone=(*text.left_alone, f"{name}: {UNTIL} {option} is on"))
    return text


def _turned_off(place: Place, text: LayerText, name: str, asked: Sequence[Request]) -> str:
    """Return the option that is off, and has to be on for a mask to have an effect; "" where there is none.

    ``asked``: calls with the mask. It is read where, with the option on, it is refused or changes the output.
    """
    others = {n: mask for n, mask in text.masks.items() if n != name}
    for option, made in _turned_on(place, text):
        on = text.but(made=replace(text.made, text=made))
        masked = reply(on.implementation(place), asked[0])
        plain = replace(asked[0], inputs=unmasked(asked[0].inputs))
        bare = reply(on.but(masks=others).implementation(place), plain)
        if isinstance(masked, Failure) or isinstance(bare, Failure) or not same(masked, bare):
            return option
    return ""


def _turned_on(place: Place, text: LayerText) -> Iterator[tuple[str, str]]:
    """Yield the options for masks that a construction leaves off, and the construction with one of them on."""
    made = text.made.text
    for name, kind in list(vars(place.module).items()):
        if not isinstance(kind, type) or (call := f"theirs.{name}(") not in made:
            continue
        for p in parameters_of(kind):
            if p.default is False and "mask" in snake(p.name) and f"{p.name}=" not in made:
                yield p.name, made.replace(call, f"{call}{p.name}=True, ")
