"""Masks of other shapes than the one that a binding hands over: what is accepted is understood, or it is broken.

A class may take a mask with two, three or four axes and treat one of them wrongly. What it refuses it does not take.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from attnconf.conformance.inference.masks.forms import SQUARE, mask_forms
from attnconf.conformance.inference.masks.masking import of_each_head
from attnconf.conformance.inference.masks.returned import Requests
from attnconf.conformance.inference.masks.search import Search, Trial
from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in
from attnconf.conformance.inference.trials.trial import FAILED

TAKEN = "the argument `{}` takes a mask of shape {}, and hides other keys with it than the mask says"
EACH_HEAD = "(B, H, L, S)"
AXIS_OF_HEADS = r"[(\[]\s*\w+(?: size)?\s*,\s*(h|heads?|(n|num)_?heads?|nh)\s*,\s*\w+\s*,\s*\w+\s*[)\]]"


def wrong_shapes(place: Place, text: AttentionText, sizes: Any, request: Requests) -> tuple[str, ...]:
    """Return a word on each shape of masks that an argument takes, and takes for something else."""
    search = Search(place, sizes, request)
    return tuple(
        TAKEN.format(name, shape)
        for name, form in text.masks.items()
        if form.kind != "lengths" and not text.single and _stands(search, text, name, form)
        for shape, trial in _others(search, text, name, form)
        if trial.distance < FAILED and not trial.right
    )


def _others(search: Search, text: AttentionText, name: str, form: MaskForm) -> Iterator[tuple[str, Trial]]:
    """Yield masks of the same kind in other shapes, none that says more than those that are known to be taken."""
    for other in mask_forms(text):
        shape = other.told.removesuffix(f" {_kind(form)}")
        narrower = other.keys_only or not form.keys_only
        if shape == other.told or shape in form.told or not narrower or "·" in shape or shape == SQUARE:
            continue
        yield shape, search.tried(text, name, other, search.certificate(text, other))
    if "(B, 1, L, S)" in form.told and "heads" in text.made.given and _says_heads(search.place):
        yield EACH_HEAD, search.tried(text, name, of_each_head(form), [search.of_each_head(text)])


def _stands(search: Search, text: AttentionText, name: str, form: MaskForm) -> bool:
    """Return whether an argument does what it is bound for, alone: there may be a flag that it goes with."""
    asked = [search.of_each_head(text)] if EACH_HEAD in form.told else search.certificate(text, form)
    return search.tried(text, name, form, asked).right


def _kind(form: MaskForm) -> str:
    return form.told.rpartition(") ")[2]


def _says_heads(place: Place) -> bool:
    """Return whether a class says in words that a mask has an axis for heads."""
    try:
        source = textwrap.dedent(inspect.getsource(place.thing))
    except (OSError, TypeError):
        return False
    told = (line for line in said_in(source) if "mask" in line.lower())
    return any(re.search(AXIS_OF_HEADS, line, re.IGNORECASE) for line in told)
