"""What a layer, a stack or a model of a user's may be: built, called, and its parameters told apart."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from types import FunctionType
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import COMPONENTS
from attnconf.adapters.generated.log_probabilities import before_log_softmax
from attnconf.adapters.generated.modules import registered, unpadded
from attnconf.adapters.generated.vector_input import Handed
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.chapters.transformer.stimuli import vocabulary
from attnconf.conformance.engine.requirement import hidden_of
from attnconf.conformance.inference.building.building import (
    Construction,
    Meanings,
    and_each_sequence,
    as_module,
    run,
    space_for,
    with_dropout,
)
from attnconf.conformance.inference.building.configurations import filled
from attnconf.conformance.inference.building.construction import build, constructions
from attnconf.conformance.inference.building.initial_values import without_initial
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.building.option_spots import options_of, with_options_off
from attnconf.conformance.inference.finding.layer_kinds import TABLES
from attnconf.conformance.inference.layers.options import OPTIONS
from attnconf.conformance.inference.layers.parts import ROWS, layer_parts, layered, with_single
from attnconf.conformance.inference.layers.probe import Probe
from attnconf.conformance.inference.layers.sizing import sized
from attnconf.conformance.inference.layers.state import State, states
from attnconf.conformance.inference.layers.vector_input import handed
from attnconf.conformance.inference.masks.forms import FILLED
from attnconf.conformance.inference.state.kept_by_models import handed_text
from attnconf.conformance.inference.texts import language_models
from attnconf.conformance.inference.texts.layer_forms import about_memory, layer_forms
from attnconf.conformance.inference.texts.layer_requests import FIRST, request
from attnconf.conformance.inference.texts.layer_text import LayerMask, LayerText
from attnconf.conformance.inference.texts.layer_units import Widths, hidden_width
from attnconf.conformance.inference.trials.angles import in_another_shape, in_every_shape
from attnconf.conformance.inference.trials.angles import told as told_of_tables
from attnconf.conformance.inference.trials.binding import Attempts, Place
from attnconf.conformance.inference.trials.calling import Form
from attnconf.conformance.inference.trials.claims import (
    claims_batch,
    claims_batch_first,
    claims_sequence_first,
    says_log_softmax,
)
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.weights.function_forms import functional
from attnconf.conformance.inference.weights.reading import Sizes
from attnconf.conformance.inference.words.derived_widths import THIRDS
from attnconf.conformance.source.source_text import code_reached

OWN_ROWS = r"(self\.\w+|\w\[[^\]]+\])\[\w*(ids?|idx|tokens?|index|indices)\w*\]"  # an embedding without torch's
HIDDEN = "its hidden width is neither what an argument asks for nor a multiple of the model's"
TURNED = "config.rotary_dim or config.embed_dim // config.num_heads"  # features of a head
_SIZES: Mapping[str, tuple[str, ...]] = {
    "embed": ("config.embed_dim",),
    "heads": ("config.num_heads",),
    "kv_heads": ("config.num_heads",),
    "kv_groups": ("1",),
    "head_dim": ("config.embed_dim // config.num_heads", "config.num_heads", "config.embed_dim"),
    "hidden": ("config.hidden_dim",),
    "ratio": ("config.hidden_dim / config.embed_dim + 1e-9", "config.hidden_dim // config.embed_dim"),
    "multiple": ("1",),
    "base": ("10000.0",),
    "max_len": ("256",),
    "buckets": ("32",),
    "distance": ("128",),
    "dropout": ("config.dropout",),
    "eps": ("config.eps",),
    "norm_first": ("config.norm_first",),
    "bias": ("config.bias",),
    "causal": ("config.causal",),
    "device": ("next(iter(weights.values())).device",),
    "dtype": ("next(iter(weights.values())).dtype",),
    "config": (),
}


_TURNING: Mapping[str, tuple[str, ...]] = {
    "rotary_dim": (TURNED,),
    "fraction": (f"min(1.0, ({TURNED}) / (config.embed_dim // config.num_heads) + 1e-9)",),
}


def table_of(component: str, thing: Any = None) -> Meanings:
    """Return what parameters of a constructor may get, by their meanings; an embedding inside has some rows."""
    known, counts = COMPONENTS[component], appearances()[component].sizes
    if not known.layered:
        return counts
    counts = {**counts, **(_TURNING if "rotary-part" in known.conventions else {})}
    if not known.stacked or known.reads_ids:
        first = {name: counts[name] for name in ("vocab",) if name in counts}  # n_tokens is rather that than a length
        return {**first, **_SIZES, **counts}
    rows = {"vocab": ROWS} if names_read(thing) & TABLES or re.search(OWN_ROWS, code_reached(thing)) else {}
    return {**_SIZES, **rows, "padding": ("0",), **counts}


def hypotheses(place: Place, attempts: Attempts) -> Iterator[tuple[LayerText, State]]:
    """Yield what the class may be, the likeliest first."""
    table = table_of(place.component, place.thing)
    parts = layer_parts(place, table)
    by_name = constructions(place.name_in_text, place.thing, table, place.module, parts)
    functions = isinstance(place.thing, FunctionType)
    every = functional(place, table) if functions else chain(sized(place, table, parts), by_name)
    ran = [claims_batch(place.thing)]
    quiet = (one for made in every for one in _with_options_off(place, made, table))
    for made in and_each_sequence(quiet, lambda: any(ran)):
        if place.component == language_models.COMPONENT and not ran[1:] and language_models.gives_none(attempts):
            return
        try:
            whole, declares = _written_out(place, made, table)
            config = request(place.component, declares, FIRST, (2, 2)).config
            whole, space = without_initial(place, whole, config), space_for(config, place.module)
            whole, module = as_module(whole, attempt(partial(run, whole, space)), getattr(config, "embed_dim", 0))
            whole = attempt(partial(with_dropout, whole, module, space))
            whole, module = _without_padding(*_registered(whole, module), table)
        except Failed as error:
            attempts.say(f"{made.text}: {error}")
            continue
        if not isinstance(module, nn.Module):
            attempts.say(f"{place.name} is no torch.nn.Module")
            return
        whole, module = with_single(whole, module)
        called: list[Form] = []
        for form in chain.from_iterable(map(in_every_shape, layer_forms(place.component, module))):
            if attempts.hopeless(_called_how(whole, form)) or in_another_shape(form, called):
                continue
            try:
                made_so, vectors = handed(whole, module, form, place.component)
                made_so, vectors = layered(made_so, vectors, form, getattr(config, "num_layers", 0))
            except Failed as error:
                attempts.say(f"{_called_how(whole, form)}{error}")
                continue
            for hypothesis in _called(place, made_so, form, vectors, config, declares, attempts):
                ran.append(True)
                called.append(form)
                yield hypothesis


def _with_options_off(place: Place, made: Construction, table: Meanings) -> Iterator[Construction]:
    """Yield a construction with the options of its attention off, where it has any, and as it is."""
    if "score-cap" not in COMPONENTS[place.component].conventions:
        yield made
        return
    try:
        made, _ = _written_out(place, made, table)
    except Failed:
        yield made
        return
    yield from with_options_off(made, list(options_of(place, made, OPTIONS)))


def _called_how(made: Construction, form: Any) -> str:
    """Return how something is called, for people: also whether for each sequence apart."""
    return f"{'one sequence at a time ' if 'each_sequence(' in made.text else ''}{form.called}"


def _written_out(place: Place, made: Construction, table: Meanings) -> tuple[Construction, dict[str, str]]:
    """Return the construction with its configurations written out, and how wide hidden features are as a whole ratio.

    Raises Failed.
    """
    declares: dict[str, str] = {}
    for _ in range(2):
        config = request(place.component, declares, FIRST, (2, 2)).config
        whole = attempt(partial(filled, made, table, place.module, space_for(config, place.module)))
        floored = any("hidden_dim //" in text for text in (whole.text, *whole.before))
        declares = {"hidden-ratio": "4"} if floored else {}
    return whole, declares


def _called(
    place: Place, made: Construction, form: Any, module: nn.Module, config: Any, declares: Mapping[str, str],
    attempts: Attempts,
) -> Iterator[tuple[LayerText, State]]:  # fmt: skip
    lazy = any(isinstance(p, nn.parameter.UninitializedParameter) for p in module.parameters())
    try:
        if lazy:
            woken(module, form)
        probe = Probe(module, form, place.component, FIRST)
        called = probe.called()
        if called.sequence_first and claims_batch_first(place.thing):
            probe.sequence_first = called.sequence_first = False
        elif not called.sequence_first and claims_sequence_first(place.thing):
            probe.sequence_first = called.sequence_first = True
        if says_log_softmax(place) and probe.normalized(called.out):
            made, module = replace(made, text=f"before_log_softmax({made.text})"), before_log_softmax(module)
        if place.component == language_models.COMPONENT:
            language_models.demand_causality(place, called.causal)
            declares = {**declares, **language_models.with_cap(probe.largest(called.out))}
        if probe.shifts(called.out):
            raise Failed("its targets are shifted inside: the first logits depend on none")
        trace, unheard = probe.trace(), set[str]()
        if isinstance(module, Handed):
            unheard = probe.unheard(called.out)
            trace.order = [name for name in trace.order if name not in unheard or name not in trace.used]
    except Failed as error:
        attempts.say(f"{_called_how(made, form)}{error}")
        return
    sized = _sized(place, module, config, made, unheard)
    if sized is None:
        attempts.say(f"{HIDDEN}: {made.text}")
        return
    (widths, ratio), known = sized, COMPONENTS[place.component]
    text = LayerText(
        place.component, made, form, lazy=lazy, out=called.out, sequence_first=called.sequence_first,
        longest=0 if "max_len" in made.given else probe.longest(),
        causal_always=called.ordered if known.configures("causal") and known.layered else called.causal,
        whole=place.component != language_models.COMPONENT and _tables_are_ours(module), trace=trace,
        left_alone=(*told_of_tables(form), *language_models.told_of_targets(module, form, place.component)),
    )  # fmt: skip
    if called.fills:
        masks = {name: _filled(name, told, place.component) for name, told in called.fills.items()}
        text = text.but(needs_mask=True, masks=masks)
    layers = (getattr(config, "num_layers", getattr(config, "num_encoder_layers", 1)),) * 2
    sizes = Sizes(widths.embed, FIRST.heads, widths.head, widths.embed)
    for state in states(place.component, module, probe.parameters, trace, widths, sizes, layers):
        state = replace(state, declares={**declares, **state.declares, **ratio})
        one = text.but(entries=state.entries, stacks=state.stacks, made=_with_their_eps(made, state))
        if state.biased.entries:  # by which the order matters, too
            one = one.but(causal_always=called.causal)
        yield _refusing(one, state), state
        if one.causal_always and not (called.causal or text.decodes):  # the order matters otherwise: tokens are mixed
            yield _refusing(one.but(causal_always=False), state), state


def _with_their_eps(made: Construction, state: State) -> Construction:
    """Return what gives norms of queries and keys the ε of the others, where there are such norms."""
    names = "".join(f', "{name}"' for name in state.inner.modules)
    return replace(made, text=f"with_eps({made.text}, config.eps{names})") if names else made


def _filled(name: str, fill: str, component: str) -> LayerMask:
    """Return how a mask that is insisted on is given where it hides nothing; of the memory where its name says so."""
    form, attends = FILLED[fill], COMPONENTS[component].attends
    if "memory" not in attends or not about_memory(name):
        return form
    return replace(form, which="source" if form.keys_only and "source" in attends else "memory")


def _registered(made: Construction, module: Any) -> tuple[Construction, Any]:
    """Return the construction and its module such that modules in plain lists and dicts are found; no other changes."""
    if not isinstance(module, nn.Module):
        return made, module
    there = len(list(module.parameters()))
    module = registered(module)
    if len(list(module.parameters())) == there:
        return made, module
    return replace(made, text=f"registered({made.text})"), module


def _without_padding(made: Construction, module: Any, table: Meanings) -> tuple[Construction, Any]:
    """Return the construction and its module such that no row of a table is padding, where -1 was to be no id's."""
    if "padding" not in made.given or table["padding"][0] != "-1" or not isinstance(module, nn.Module):
        return made, module
    tables = [m for m in module.modules() if isinstance(m, nn.Embedding)]
    if all(m.padding_idx != m.num_embeddings - 1 for m in tables):
        return made, module
    return replace(made, text=f"unpadded({made.text})"), unpadded(module)


def _tables_are_ours(module: nn.Module) -> bool:
    """Return whether the tables of a model are those of its ids: no positions, none for source and target alike."""
    vocab, width = vocabulary(FIRST), FIRST.width
    tables = {id(m.weight): m.weight.shape[0] for m in module.modules() if isinstance(m, nn.Embedding)}
    heads = {id(m.weight) for m in module.modules() if isinstance(m, nn.Linear) and m.weight.shape[0] == vocab}
    shared = len(tables) == 1 and bool(heads - set(tables))
    bare = any(p.shape[-1:] == (width,) and p.ndim > 1 for _, p in module.named_parameters(recurse=False))
    return set(tables.values()) <= {vocab} and not shared and not bare


def woken(module: nn.Module, form: Any) -> None:
    """Call a module with lazy layers once. Raises Failed."""
    token = torch.zeros(1, 1, FIRST.width, dtype=torch.float64)
    given = [
        token if slot.role in ("x", "memory", "source", "target") else None for slot in form.slots if slot.required
    ]
    attempt(lambda: module(*given))


def ignores_hidden(place: Place, made: Construction, config: Any, apart: Collection[str] = ()) -> bool:
    """Return whether what is built with another hidden width has the same parameters, but for those ``apart``."""
    found = []
    inner = replace(made, text=handed_text(made.text) or made.text)
    for width in (config.hidden_dim, 2 * config.hidden_dim + 6):
        other = replace(config, hidden_dim=width)
        try:
            thing = build(place, inner, other)
        except Failed:
            return False
        here = (p for name, p in thing.named_parameters() if not {name, f"whole.{name}"} & {*apart})
        found.append([p.shape for p in here if not isinstance(p, nn.parameter.UninitializedParameter)])
    return found[0] == found[1]


def _sized(
    place: Place, module: nn.Module, config: Any, made: Construction, apart: Collection[str]
) -> tuple[Widths, dict[str, str]] | None:
    """Return the widths of a module, and how its hidden width depends on the model's where that cannot be chosen.

    ``apart``: parameters that what is judged does not depend on, as those of a head.
    """
    embed = FIRST.width
    known = COMPONENTS[place.component]
    if not known.layered:
        return Widths(embed, FIRST.head_width, 0, vocabulary(FIRST)), {}
    shapes = {n: tuple(p.shape) for n, p in module.named_parameters() if n not in apart}
    hidden = hidden_width(shapes, embed, config.hidden_dim)
    vocab = vocabulary(FIRST) if known.reads_ids else 0
    ignored = "hidden" in made.given and hidden % embed == 0 and ignores_hidden(place, made, config, apart)
    if hidden == config.hidden_dim or ({"hidden", "ratio"} & made.given and not ignored):
        return Widths(embed, FIRST.head_width, config.hidden_dim, vocab), {}
    ratio = THIRDS if hidden == hidden_of(THIRDS, embed) else "" if hidden % embed else str(hidden // embed)
    return (Widths(embed, FIRST.head_width, hidden, vocab), {"hidden-ratio": ratio}) if ratio else None


def _refusing(text: LayerText, state: State) -> LayerText:
    """Return the text with what the class cannot be asked for."""
    given, found = text.made.given, list[tuple[str, str]]()
    if "dropout" not in given and text.known.configures("dropout"):
        found.append(("config.dropout and config.training", "dropout"))
    ratio = state.declares.get("hidden-ratio")
    if ratio:
        wanted = "8 * config.embed_dim // 3" if ratio == THIRDS else f"{ratio} * config.embed_dim"
        found.append((f"config.hidden_dim != {wanted}", f"a hidden width other than {ratio} times the model's"))
    if "source" in text.known.attends and not {"layers", "decoder_layers"} <= given:
        found.append(("config.num_encoder_layers != config.num_decoder_layers", "different numbers of layers"))
    if not text.decodes and text.causal_always:
        found.append(("not config.causal", "attention that is not causal"))
    return text.but(refusals=tuple(found))
