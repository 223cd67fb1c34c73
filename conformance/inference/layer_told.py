"""What is said of a layer's binding, for people: how it is built and called, and what is not asked of it."""

import re
from collections.abc import Iterator
from functools import partial

from attnconf.conformance.inference.attention_finish import remarks
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.calling import ABOUT_CAUSALITY, Slot, either, parameters, says_nothing
from attnconf.conformance.inference.flags import defaults_of
from attnconf.conformance.inference.layer_text import SWITCHES, LayerText
from attnconf.conformance.inference.vocabulary import SIZES, meanings


def switches(text: LayerText) -> Iterator[str]:
    """Yield a word on each argument for masks of which nothing but its presence counts."""
    for slot in text.form.slots:
        if slot.role in SWITCHES:
            yield f"whatever mask is given to `{slot.name}`, it is causal; no other mask can be asked for"


def unturned(place: Place, text: LayerText) -> Iterator[str]:
    """Yield a word on each flag that is left as it is and may be for causality, or for whatever else."""
    left = [slot.name for slot in text.form.of("causal") if not (text.flag or slot.required)]
    for p in parameters(place.thing):
        if p.name in left or (isinstance(p.default, bool) and says_nothing(p.name)):
            yield f"{p.name}={p.default}: what it does otherwise is not judged"
    for name, default in defaults_of(place.thing).items():
        about = ABOUT_CAUSALITY & set(meanings(name, SIZES)) or either(name)
        if about and isinstance(default, bool) and f"{name}=" not in text.made.text:
            yield f"{name}={default}: what it does otherwise is not judged"


def _given(text: LayerText, slot: Slot) -> str | None:
    """Return what an argument gets, for people; None where it is left at its default."""
    idle = slot.name not in text.masks if slot.role == "mask" else slot.role == "causal" and not text.flag
    return None if idle and not slot.required else slot.role


def told(text: LayerText) -> tuple[str, ...]:
    """Return the binding in three lines, for people."""
    shown = re.sub(r"\btheirs\.|\bconfig\.", "", text.made.text)
    masks = "; ".join(f"{name} {mask.told}" for name, mask in text.masks.items()) or "no masks"
    entries = [*text.entries, *(e for stack in text.stacks for e in stack.entries)]
    weights = "; ".join(entries[:3]) + ("; …" if len(entries) > 3 else "")
    passed = "; what it embeds is not judged" if "handed(" in text.made.text else ""
    before = re.sub(r"\btheirs\.|\bconfig\.", "", "; ".join(text.made.before))
    return (
        f"constructor  {shown}" + (f", after {before}" if before else ""),
        f"forward      ({text.form.text(partial(_given, text))}) -> {text.out}"
        + (", sequence first" if text.sequence_first else "")
        + passed,
        f"weights      {weights or 'none: it has no parameters of its own'}; {masks}",
        *remarks(text),
    )
