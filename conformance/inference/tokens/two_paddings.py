"""A model with an id of padding for its source, and one for its targets: what hides the source's is the source's own.

It is built with one id for both, and then with two. A source has to be the same with its padding behind it in each.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.conformance.inference.building.building import Construction, run, space_for
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import same_numbers
from attnconf.conformance.inference.words.vocabulary import SIZES, snake

SEEN = "padding of a source counts where `{}` is another id than `{}`, and where both are one it does not"
OF_SOURCE = r".*(src|source|enc|input).*"
OF_TARGET = r".*(tgt|trg|target|dec|output).*"
ENTRY = rf"\b((?:{SIZES['padding']})\s*=\s*)(-1|0|config\.padding_id)(?=[,)])"
BOTH, OTHER = 0, 5  # ids of padding
SAMPLES, TOKENS, LONGER = 2, 5, 2


def of_source(place: Place, text: LayerText, config: Any) -> tuple[str, ...]:
    """Return a word on a model that sees its source's padding where its targets have another id for theirs."""
    inner = handed_text(text.made.text) or (text.made.text if text.known.reads_ids else "")
    names = [m[1].partition("=")[0].strip() for m in re.finditer(ENTRY, inner, re.IGNORECASE)]
    slots = {slot.role: slot.name for slot in text.form.slots if slot.required}
    if set(slots) != {"source", "target"} or len(names) != 2:
        return ()
    source, target = ([n for n in names if re.fullmatch(kind, snake(n))] for kind in (OF_SOURCE, OF_TARGET))
    if len(source) != 1 or len(target) != 1 or source == target:
        return ()
    made = Construction(inner, text.made.before)
    hides = partial(_hides, place, made, config, (source[0], target[0]), (slots["source"], slots["target"]))
    try:
        told = [attempt(partial(hides, *ids)) for ids in ((BOTH, BOTH), (BOTH, OTHER), (OTHER, BOTH))]
    except Failed:
        return ()
    return (SEEN.format(target[0], source[0]),) if told[0] and not all(told) else ()


def _hides(
    place: Place, made: Construction, config: Any, names: tuple[str, str], inputs: tuple[str, str], *ids: int
) -> bool:
    """Return whether the source's padding behind a source leaves all as it is, with ids of padding for both."""
    told = dict(zip(names, ids, strict=True))
    whole = re.sub(ENTRY, lambda m: f"{m[1]}{told[m[1].partition('=')[0].strip()]}", made.text, flags=re.IGNORECASE)
    module = run(replace(made, text=whole), space_for(config, place.module)).double().eval()
    x = torch.arange(SAMPLES * TOKENS).reshape(SAMPLES, TOKENS) % (OTHER - 1) + 1
    padded = nn.functional.pad(x, (0, LONGER), value=ids[0])
    plain, longer = (_output(module, {inputs[0]: source, inputs[1]: x[:, 1:]}) for source in (x, padded))
    return same_numbers(longer, plain)


def _output(module: nn.Module, ids: Mapping[str, Tensor]) -> Tensor:
    with torch.no_grad():
        returned = module(**{name: x.clone() for name, x in ids.items()})
    return next(x for x in tree_leaves(returned) if isinstance(x, Tensor) and x.is_floating_point())
