"""What a class that is built and called in one way may be as attention: which of its parameters is which weight."""

import contextlib
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from torch import nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.inference.attention.multi_query import ONE, multi_query
from attnconf.conformance.inference.attention.probe import Probe
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.module_sizes import integers_of
from attnconf.conformance.inference.masks.forms import insisted_on
from attnconf.conformance.inference.texts.attention_parts import Parts, parts_of
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.angles import told
from attnconf.conformance.inference.trials.binding import Attempts, Place
from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.trials.calling import Form, polarities
from attnconf.conformance.inference.trials.claims import claims_batch, claims_batch_first, claims_sequence_first
from attnconf.conformance.inference.trials.probing import Failed, norms_in, restored
from attnconf.conformance.inference.weights.states import Weighing
from attnconf.conformance.source.source_text import code_reached

# The positions that attention whose tokens have an order may have of its own, without weights for them.
INSIDE = (
    {"positions-inside": "alibi"},
    {"positions-inside": "rotary"},
    {"positions-inside": "rotary", "rope-pairing": "half"},
)
UNMADE = nn.parameter.UninitializedParameter


@dataclass
class AttentionAttempts(Attempts):
    """Also what runs, but with numbers of samples of its own only."""

    partial: list[AttentionText] = field(default_factory=list)


def of_form(
    place: Place,
    made: Construction,
    form: Form,
    module: nn.Module,
    config: MultiHeadAttentionConfig,
    attempts: AttentionAttempts,
    unregistered: bool,
) -> Iterator[AttentionText]:
    """Yield what the class may be where it is called in one form."""
    orders = (False,) if claims_batch_first(place.thing) else (False, True)
    orders = (True,) if claims_sequence_first(place.thing) else orders
    for first, flags in product(orders, polarities(form)):
        lazy = is_lazy(module)
        text = AttentionText(made, form, sequence_first=first, lazy=lazy, flags=flags, left_alone=told(form))
        text = text.but(stripped=tuple(norms_in(module)), unregistered=unregistered)
        with restored(module):  # no copy of it, but where it is yet to get its sizes: that is not undone
            yield from _tried(place, Probe(copy.deepcopy(module) if lazy else module, text, config), attempts)


def is_lazy(module: nn.Module) -> bool:
    """Return whether the first call makes the parameters, or gives them their sizes."""
    own = list(module.parameters())
    late = not own and re.search(r"\bParameter\(|\bLinear\(", code_reached(type(module)))
    return bool(late) or any(isinstance(p, UNMADE) for p in own)


def _tried(place: Place, probe: Probe, attempts: AttentionAttempts) -> Iterator[AttentionText]:
    """Yield what a class may be that is called in one form."""
    text, form = probe.text, probe.text.form
    try:
        yield from _weighed(probe.called(), probe)
    except Failed as error:
        attempts.say(f"{form.called}{error}")
        if any(probe.runs_with(samples) for samples in integers_of(place.thing)):
            named = next(probe.weighings(), None)
            attempts.partial += [text.but(state=named.state, lacking=named.lacking)] if named else []
            return
        yield from _of_masks(list(insisted_on(text)), probe)


def _of_masks(masked: Sequence[AttentionText], probe: Probe) -> Iterator[AttentionText]:
    """Yield what the class may be where it insists on a mask; last where what should hide nothing hides all keys."""
    late = []
    for text in masked:
        probe.text = text
        with contextlib.suppress(Failed):
            called = probe.called()
            if probe.mixes_evenly():
                late.append(called)
            else:
                yield from _weighed(called, probe)
    for text in late:
        probe.text = text
        with contextlib.suppress(Failed):
            yield from _weighed(text, probe)


def otherwise(
    place: Place,
    made: Construction,
    form: Form,
    module: nn.Module,
    config: MultiHeadAttentionConfig,
    unregistered: bool,
) -> Iterator[AttentionText]:
    """Yield what the class may be if it takes as many keys as queries, and no other number, or no batch."""
    if is_lazy(module):
        return
    text = AttentionText(made, form, stripped=tuple(norms_in(module)), unregistered=unregistered, left_alone=told(form))
    needed = {slot.role for slot in form.slots if slot.required}  # a memory that may be left out is judged without it
    two = {"query", "key"} <= set(form.roles) or {"x", "memory"} <= needed
    found = [text.but(square=True)] if two else []
    found += [] if claims_batch(place.thing) else [text.but(single=True)]
    for one in (x.but(flags=flags) for x in found for flags in polarities(form)):
        with restored(module), contextlib.suppress(Failed):
            probe = Probe(module, one, config)
            yield from _weighed(probe.called(), probe)


def _weighed(text: AttentionText, probe: Probe) -> Iterator[AttentionText]:
    """Yield a text with what the parameters may be: first with parts beside the projections, where some are seen."""
    seen = probe.seen()
    parts = parts_of(seen, text.made.text)
    shared = list(multi_query(seen.resting(parts.idle) if parts else seen))
    alone = (parts or Parts()).and_(Parts((ONE,)))
    yield from _placed(text, [one for weighing in shared for one in _with_parts(text, alone, weighing)])
    if parts is not None:
        found = [one for weighing in probe.weighings(parts) for one in _with_parts(text, parts, weighing)]
        yield from _placed(text, found)
        if parts.inside and any(slot.role == "memory" and not slot.required for slot in text.form.slots):
            return  # without the memory the table is seen
    yield from _placed(text, _of_projections(text, probe))


def _with_parts(text: AttentionText, parts: Parts, weighing: Weighing) -> Iterator[AttentionText]:
    """Yield the text with parts and one reading of the rest, unless both hold what is the queries'."""
    said = " ".join(weighing.state)
    if any(f'weights["{name}"]' in said for name in parts.holds) or weighing.mistake:
        return
    lacking = tuple(name for name in weighing.lacking if name not in parts.holds)
    found = text.but(
        state=(*weighing.state, *parts.state), lacking=lacking, exchangeable=weighing.exchangeable,
        family=parts.family, inside=parts.inside, normed=parts.normed,
    )  # fmt: skip
    yield found
    if "relative.weight" in " ".join(parts.state):
        yield _undivided(found)
    if parts.inside.get("positions-inside") == "shaw":
        yield found.but(inside={**parts.inside, "offset-rows": "descending"})


def _undivided(text: AttentionText) -> AttentionText:
    """Return the text whose scores are not divided by √D, as T5 has it: the queries' weights are."""
    divided = [re.sub(r'(weights\["q\.(?:weight|bias)"\])', r"(\1 * config.head_dim**-0.5)", e) for e in text.state]
    words = "scores are not divided by √D, as in T5: the weights of queries are handed over divided by it"
    return text.but(state=tuple(divided), left_alone=(*text.left_alone, words))


def _of_projections(text: AttentionText, probe: Probe) -> Iterator[AttentionText]:
    """Yield a text with what the parameters may be where there are projections only."""
    for weighing in probe.weighings():
        orders = (False, True) if "heads" in text.made.given and not weighing.mistake else (False,)
        for heads_last in orders:
            found = text.but(state=weighing.state, lacking=weighing.lacking, supposed=weighing.mistake)
            yield found.but(heads_last=heads_last, exchangeable=weighing.exchangeable)


def _placed(text: AttentionText, every: Iterable[AttentionText]) -> Iterator[AttentionText]:
    """Yield texts, and where the order of tokens matters, again causal in a wrong way, or with positions inside."""
    known: list[AttentionText] = []
    for found in every:
        yield found
        if text.ordered and not text.causal_always:  # tokens are mixed up; it may be causal in a wrong way
            yield found.but(causal_always=True)
        known.append(found)
    for inside in INSIDE if text.ordered and text.self_only else ():
        placed = [found.but(inside=inside) for found in known[:FEW] if not (found.supposed or found.inside)]
        yield from placed
        if not text.causal_always:
            yield from (found.but(causal_always=True) for found in placed[:1])
