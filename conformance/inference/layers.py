"""Bind a class as a layer, a stack or a model: built, called and given weights so that it can be judged."""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.adapters.handing import Handed
from attnconf.conformance.door import Reply, Request
from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.attention_finish import remarks
from attnconf.conformance.inference.binding import Attempts, Bound, Place, Refusal, refused
from attnconf.conformance.inference.calling import ABOUT_CAUSALITY, Form, Slot, parameters, says_nothing
from attnconf.conformance.inference.claims import claims_batch_first
from attnconf.conformance.inference.construction import (
    Construction,
    constructions,
    filled,
    names_read,
    run,
    space_for,
)
from attnconf.conformance.inference.flags import defaults_of, either
from attnconf.conformance.inference.handing import handed
from attnconf.conformance.inference.layer_conventions import variants
from attnconf.conformance.inference.layer_kinds import TABLES
from attnconf.conformance.inference.layer_masks import FILLED, with_masks
from attnconf.conformance.inference.layer_parts import ROWS, layer_parts
from attnconf.conformance.inference.layer_probe import Called, Probe, layer_forms
from attnconf.conformance.inference.layer_requests import FIRST, SECOND, request
from attnconf.conformance.inference.layer_state import State, states, uncovered
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.layer_trace import Trace
from attnconf.conformance.inference.layer_units import Widths, hidden_width
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.reading import Sizes
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, Draft, why
from attnconf.conformance.inference.vocabulary import SIZES, meanings
from attnconf.conformance.models import vocabulary

_SIZES: Mapping[str, tuple[str, ...]] = {
    "embed": ("config.embed_dim",),
    "heads": ("config.num_heads",),
    "head_dim": ("config.embed_dim // config.num_heads", "config.num_heads", "config.embed_dim"),
    "hidden": ("config.hidden_dim",),
    "ratio": ("config.hidden_dim / config.embed_dim + 1e-9", "config.hidden_dim // config.embed_dim"),
    "max_len": ("256",),
    "dropout": ("config.dropout",),
    "eps": ("config.eps",),
    "norm_first": ("config.norm_first",),
    "bias": ("config.bias",),
    "causal": ("config.causal",),
    "device": ("next(iter(weights.values())).device",),
    "dtype": ("next(iter(weights.values())).dtype",),
    "config": (),
}
_BOTH = {"layers": ("config.num_encoder_layers",), "decoder_layers": ("config.num_decoder_layers",)}
_COUNTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "encoder": {"layers": ("config.num_layers",)},
    "decoder": {"layers": ("config.num_layers",), "decoder_layers": ("config.num_layers",)},
    "encoder_decoder": _BOTH,
    "transformer": {
        **_BOTH, "vocab": ("config.vocab_size",), "max_len": ("config.max_len", "256"), "padding": ("-1", "None"),
    },
}  # fmt: skip
_TOKENS = {"embed": ("config.dim",), "heads": ("config.num_heads",), "vocab": ("config.vocab_size",),
           "head_dim": ("config.dim // config.num_heads",), "max_len": ("config.max_len",), "bias": ("config.bias",),
           "dropout": ("0.0",), "causal": ("config.causal",), "padding": ("-1", "None"), "config": ()}  # fmt: skip


def table_of(component: str, thing: Any = None) -> Mapping[str, tuple[str, ...]]:
    """Return what parameters of a constructor may get, by their meanings; an embedding inside has some rows."""
    if component == "token_attention":
        return _TOKENS
    if component not in ("encoder", "decoder", "encoder_decoder"):
        return {**_SIZES, **_COUNTS.get(component, {})}
    rows = {"vocab": ROWS} if names_read(thing) & TABLES else {}
    return {**_SIZES, **rows, "padding": ("0",), **_COUNTS[component]}


@dataclass
class Tried:
    """A text that ran, in the conventions that are likeliest, and how far it is from the textbook."""

    text: LayerText
    declares: Mapping[str, str]
    norm_first: bool
    distance: float
    given: list[Reply | Failure]
    certificate: Certificate
    trace: Trace


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as a layer or a model, or what stands against it."""
    found = begin(place)
    return found.end() if isinstance(found, Unlike) else found


def begin(place: Place) -> "Bound | Refusal | Unlike":
    """Return the binding of what equals the textbook, what stands against one, or what ran and equals no textbook."""
    attempts, tried = Attempts(), list[Tried]()
    if isinstance(place.thing, type) and next(layer_forms(place.component, place.thing), None) is None:
        return Refusal(f"it takes fewer inputs than {place.component} has")
    for text, state, trace, called in hypotheses(place, attempts):
        for one in trials(place, text, state, trace, called, attempts):
            if one.distance <= ROUNDING:
                return finish(place, one, "reference")
            tried.append(one)
        if len({one.text.made for one in tried}) > 2 or len(tried) > 8:
            break
    if not tried:
        return refused(attempts.failures, f"it can be neither built nor called as {place.component}")
    if words := misfit(place, tried[0]):
        return Refusal(words)
    return Unlike(place, tried)


@dataclass
class Unlike:
    """What ran as a component and equals no textbook: perhaps a known mistake, which takes long to find out."""

    place: Place
    tried: list[Tried]

    @property
    def whole(self) -> bool:
        """Whether its embeddings are those that the component has, so that equality was to be expected."""
        return self.place.component == "transformer" and self.tried[0].text.whole

    def end(self) -> Bound:
        """Return the binding of what equals a known mistake, else of what was nearest."""
        alike: dict[Any, Certificate] = {}  # the mistakes' replies are computed once for the same calls
        for one in self.tried[:3]:
            key = (one.norm_first, one.text.causal_always, one.text.decodes, *sorted(one.declares.items()))
            first = alike.setdefault(key, Certificate(self.place.component, one.certificate.requests[:1]))
            for mistake in first.mistakes(one.given[:1], one.declares):
                if one.certificate.distance(one.given, one.declares, mistake.id) <= ROUNDING:
                    return finish(self.place, one, mistake.id)
        return finish(self.place, self.tried[0], None)


def misfit(place: Place, one: Tried) -> str:
    """Return why what equals no textbook cannot be judged as this component either; nothing where it can."""
    if place.component in _COUNTS and not {"layers", "decoder_layers"} & one.text.made.given:
        return f"{one.text.made.text}: its number of layers cannot be chosen, so it is not judged as {place.component}"
    drawn = drawn_anew(place, one)
    return f"{drawn[0]} is no parameter of {place.component}, and what comes out depends on it" if drawn else ""


def drawn_anew(place: Place, one: Tried) -> list[str]:
    """Return the parameters that are used, but are no weights of ours, and have other values in every construction."""
    config = one.certificate.requests[0].config
    space = space_for(config, place.module, weights={"": torch.zeros(1, dtype=torch.float64)})
    try:
        first, second = (dict(attempt(partial(run, one.text.made, space)).named_parameters()) for _ in range(2))
    except Failed:
        return []
    shapes = {name: tuple(p.shape) for name, p in first.items()}
    given = "hidden" in one.text.made.given
    if given and hidden_width(shapes, FIRST.H * FIRST.E, config.hidden_dim) != config.hidden_dim:
        return []  # it ignores what it is given, which is its mistake
    names = uncovered(one.text.entries, one.text.stacks, [name for name in one.trace.order if name in one.trace.used])
    return [name for name in names if not torch.equal(first[name], second[name])]


# -- what the class may be


def hypotheses(place: Place, attempts: Attempts) -> Iterator[tuple[LayerText, State, Trace, Called]]:
    """Yield what the class may be, the likeliest first."""
    table = table_of(place.component, place.thing)
    parts = layer_parts(place, table)
    for made in constructions(place.name_in_text, place.thing, table, place.module, parts):
        declares = {"hidden-ratio": "4"} if "//" in made.text and "hidden_dim //" in made.text else {}
        config = request(place.component, declares, FIRST, False, (2, 2)).config
        space = space_for(config, place.module, weights={"": torch.zeros(1, dtype=torch.float64)})
        try:
            whole = attempt(partial(filled, made, table, place.module, space))
            module = attempt(partial(run, whole, space))
            whole = attempt(partial(_with_dropout, whole, module, space))
        except Failed as error:
            attempts.say(f"{made.text}: {error}")
            continue
        if not isinstance(module, nn.Module):
            attempts.say(f"{place.name} is no torch.nn.Module")
            return
        for form in layer_forms(place.component, module):
            if attempts.hopeless(called_with(form)):
                continue
            try:
                made_so, vectors = handed(whole, module, form, place.component)
            except Failed as error:
                attempts.say(f"{called_with(form)}{error}")
                continue
            yield from _called(place, made_so, form, vectors, config, declares, attempts)


def _called(
    place: Place, made: Construction, form: Any, module: nn.Module, config: Any, declares: Mapping[str, str],
    attempts: Attempts,
) -> Iterator[tuple[LayerText, State, Trace, Called]]:  # fmt: skip
    lazy = any(isinstance(p, nn.parameter.UninitializedParameter) for p in module.parameters())
    try:
        if lazy:
            woken(module, form)
        probe = Probe(copy.deepcopy(module), form, place.component, FIRST)
        called = probe.called()
        if called.sequence_first and claims_batch_first(place.thing):
            probe.sequence_first = called.sequence_first = False
        trace = probe.trace()
        if isinstance(module, Handed):
            unheard = probe.unheard()
            trace.order = [name for name in trace.order if name not in unheard or name not in trace.used]
    except Failed as error:
        attempts.say(f"{called_with(form)}{error}")
        return
    sized = _sized(place.component, module, config, made)
    if sized is None:
        attempts.say(f"{made.text}: its hidden width is not found")
        return
    widths, ratio = sized
    text = LayerText(
        place.component, made, form, lazy=lazy, out=called.out, sequence_first=called.sequence_first,
        longest=0 if "max_len" in made.given else probe.longest(),
        causal_always=called.causal if place.component not in ("encoder_layer", "encoder") else called.ordered,
        whole=_tables_are_ours(module),
    )  # fmt: skip
    if called.fill != "none":
        text = text.but(needs_mask=True, masks={
            s.name: FILLED[called.fill] for s in form.slots if s.required and s.role in ("mask", "lengths")
        })  # fmt: skip
    layers = (getattr(config, "num_layers", getattr(config, "num_encoder_layers", 1)),) * 2
    sizes = Sizes(widths.embed, FIRST.H, widths.head, widths.embed)
    for state in states(place.component, module, probe.parameters, trace, widths, sizes, layers):
        state = replace(state, declares={**declares, **state.declares, **ratio})
        yield _refusing(text.but(entries=state.entries, stacks=state.stacks), state), state, trace, called


def _with_dropout(made: Construction, module: Any, space: Mapping[str, Any]) -> Construction:
    """Return the construction such that dropout is what is asked for, where parts have one that nobody can choose."""
    drops = _probabilities(module)
    if not any(drops):
        return made
    other = {**space, "config": replace(space["config"], dropout=0.25)}
    if any(one > 0 and one != two for one, two in zip(drops, _probabilities(run(made, other)), strict=True)):
        return made  # it is chosen, and wrongly
    return replace(made, text=f"dropping({made.text}, config.dropout)", given=made.given | {"dropout"})


def _probabilities(module: Any) -> list[float]:
    if not isinstance(module, nn.Module):
        return []
    parts = module.modules()
    return [
        m.p if isinstance(m, nn.Dropout) else m.dropout
        for m in parts
        if isinstance(m, nn.Dropout | nn.MultiheadAttention)
    ]


def _tables_are_ours(module: nn.Module) -> bool:
    """Return whether the tables of a model are those of its ids: no positions, none for source and target alike."""
    vocab, width = vocabulary(FIRST), FIRST.H * FIRST.E
    tables = {id(m.weight): m.weight.shape[0] for m in module.modules() if isinstance(m, nn.Embedding)}
    heads = {id(m.weight) for m in module.modules() if isinstance(m, nn.Linear) and m.weight.shape[0] == vocab}
    shared = len(tables) == 1 and bool(heads - set(tables))
    bare = any(p.shape[-1:] == (width,) and p.ndim > 1 for _, p in module.named_parameters(recurse=False))
    return set(tables.values()) <= {vocab} and not shared and not bare


def called_with(form: Form) -> str:
    """Return how something is called, for people."""
    return f"called with ({form.text(lambda slot: slot.role)}): "


def woken(module: nn.Module, form: Any) -> None:
    """Call a module with lazy layers once. Raises Failed."""
    token = torch.zeros(1, 1, FIRST.H * FIRST.E, dtype=torch.float64)
    given = [
        token if slot.role in ("x", "memory", "source", "target") else None for slot in form.slots if slot.required
    ]
    attempt(lambda: module(*given))


def _sized(component: str, module: nn.Module, config: Any, made: Construction) -> tuple[Widths, dict[str, str]] | None:
    """Return the widths of a module, and how its hidden width depends on the model's where that cannot be chosen."""
    embed = FIRST.H * FIRST.E
    if component == "token_attention":
        return Widths(embed, FIRST.E, 0, vocabulary(FIRST)), {}
    shapes = {n: tuple(p.shape) for n, p in module.named_parameters()}
    hidden = hidden_width(shapes, embed, config.hidden_dim)
    vocab = vocabulary(FIRST) if component == "transformer" else 0
    if hidden == config.hidden_dim or {"hidden", "ratio"} & made.given:
        return Widths(embed, FIRST.E, config.hidden_dim, vocab), {}
    if hidden % embed:
        return None
    return Widths(embed, FIRST.E, hidden, vocab), {"hidden-ratio": str(hidden // embed)}


def _refusing(text: LayerText, state: State) -> LayerText:
    """Return the text with what the class cannot be asked for."""
    given, found = text.made.given, list[tuple[str, str]]()
    if "dropout" not in given and text.component != "token_attention":
        found.append(("config.dropout and config.training", "dropout"))
    ratio = state.declares.get("hidden-ratio")
    if ratio:
        found.append(
            (f"config.hidden_dim != {ratio} * config.embed_dim", f"a hidden width other than {ratio} times the model's")
        )
    if text.component in ("encoder_decoder", "transformer") and not {"layers", "decoder_layers"} <= given:
        found.append(("config.num_encoder_layers != config.num_decoder_layers", "different numbers of layers"))
    if text.component in ("encoder", "encoder_layer", "token_attention") and text.causal_always:
        found.append(("not config.causal", "attention that is not causal"))
    return text.but(refusals=tuple(found))


# -- conventions


def trials(
    place: Place, text: LayerText, state: State, trace: Trace, called: Called, attempts: Attempts
) -> Iterator[Tried]:
    """Yield a text in all conventions that it may be in, the likeliest first; the nearest last where none fits."""
    nearest: Tried | None = None
    given: dict[tuple[bool, str], tuple[list[Reply | Failure], list[Request]]] = {}
    for declares, norm_first in variants(place, text, state, trace):
        requests = plain_requests(text, declares, norm_first, called)
        key = (norm_first if "norm_first" in text.made.given else False, declares.get("norm-kind", "layer"))
        variant = text.but(refusals=(*text.refusals, *_eps_refusal(declares)))
        certificate, first = Certificate(place.component, requests), Certificate(place.component, requests[:1])
        if key not in given:
            implementation = Draft(place.component, variant.body(), declares).implementation(place.module)
            given[key] = (certificate.replies(implementation), requests)
        replies, _ = given[key]
        if replies and isinstance(replies[-1], Failure):
            attempts.say(why(replies[-1]))
            if "eps" not in declares or "norm_first" not in text.made.given:
                return
        distance = first.distance(replies[:1], declares)
        if distance <= ROUNDING or nearest is None:
            distance = certificate.distance(replies, declares)
        one = Tried(variant, declares, norm_first, distance, replies, certificate, trace)
        if distance <= ROUNDING:
            yield one
            return
        if distance < FAILED and nearest is None:
            nearest = one
    if nearest is not None:
        yield nearest


def _eps_refusal(declares: Mapping[str, str]) -> list[tuple[str, str]]:
    if "eps" not in declares:
        return []
    return [
        (f"config.eps != {float(declares['eps'])}", f"another ε than {float(declares['eps'])}, which is in its code")
    ]


def plain_requests(text: LayerText, declares: Mapping[str, str], norm_first: bool, called: Called) -> list[Request]:
    """Return calls without masks, in two sizes; of one target each where the caller has to bring the causal mask."""
    causal = declares.get("causality") == "always"
    short = {"L": 1} if text.decodes and not text.causal_always else {}
    return [
        request(text.component, declares, case.but(**short), norm_first, layers, causal=causal)
        for case, layers in ((FIRST, (2, 2)), (SECOND, (3, 3)))
    ]


# -- the rest


def finish(place: Place, one: Tried, certified: str | None) -> Bound:
    """Return the binding with masks, which are looked for once the rest is known."""
    text = with_masks(place, one.text, one.declares, one.norm_first, certified)
    declares = dict(one.declares)
    if "norm_first" in text.made.given:
        declares["norm-order"] = "both"
    text = text.but(left_alone=(*text.left_alone, *_unturned(place, text)))
    return Bound(place, Draft(place.component, text.body(), declares), None, certified, told(text), text.doubt)


def _unturned(place: Place, text: LayerText) -> Iterator[str]:
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
    return (
        f"constructor  {shown}",
        f"forward      ({text.form.text(partial(_given, text))}) -> {text.out}"
        + (", sequence first" if text.sequence_first else "")
        + passed,
        f"weights      {weights or 'none: it has no parameters of its own'}; {masks}",
        *remarks(text),
    )
