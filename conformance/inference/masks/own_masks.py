"""What hides later targets where a decoder is given no mask for that: a mask of its own, which is judged then."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.inference.texts.layer_text import LayerMask, LayerText
from attnconf.conformance.inference.trials.trial import Certificate, all_same

if TYPE_CHECKING:
    from attnconf.conformance.inference.masks.layer_masks import Search


def with_own(search: "Search", text: LayerText) -> LayerText:
    """Return the text of a decoder such that it is left to itself where only causality is asked, if it sees to it then.

    A mask for that was brought so far, and its own was never seen. What does so in no known way puts it in doubt.
    """
    for name, form in _brought(text) if search.certified == "reference" else ():
        alone = text.but(masks={**text.masks, name: replace(form, replaces=True)})
        asked = Certificate(text.component, search.requests(text, form, True))
        hiding_nothing = text.but(causal_always=True, needs_mask=True)
        given, seeing_all = (asked.replies(one.implementation(search.place)) for one in (alone, hiding_nothing))
        if isinstance(given[-1], Failure) or isinstance(seeing_all[-1], Failure) or all_same(given, seeing_all):
            continue
        if asked.agrees(given, text.declares) or asked.mistake(given, text.declares):
            return alone
        return text.but(doubt=text.doubt or f"{name}: what is hidden where it is not given is no causal mask")
    return text


def _brought(text: LayerText) -> Iterator[tuple[str, LayerMask]]:
    """Yield the arguments by which a decoder is made causal, of those that it can do without."""
    needed = {slot.name for slot in text.form.slots if slot.required}
    if text.causal_always or text.flag or text.needs_mask:
        return
    for name, form in text.masks.items():
        if form.which == "self" and not form.keys_only and not form.replaces and name not in needed:
            yield name, form
