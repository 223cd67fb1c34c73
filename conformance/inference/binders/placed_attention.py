"""Bind attention that has positions of its own: rotary ones, ALiBi, T5's bias. Heads are split outside."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binders.positions import table_states
from attnconf.conformance.inference.drafts.drafts import Choice, Family, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.options.left_out import with_guard_tried
from attnconf.conformance.inference.positions.positions_options import with_options
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.filling import Input
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES

THREE = ("query", "key", "value")
CAUSAL = "causal attention"
TABLE = r"(rel(ative)?_?|pos(ition)?_?|t5_?|bias_?)*(table|bias(es)?|emb(edding)?s?|weights?)"  # of a function
LAYOUTS = (("", "{r}"), (".transpose(1, 2)", "{r}.transpose(1, 2)"))
WAYS = {"free": (False, True), "always causal": (True,), "never causal": (False,)}
SIZES_ = ((2, 4, 7, 8), (3, 2, 5, 6))


def inputs_for(component: str, place: Place) -> Iterator[Mapping[str, Input]]:
    """Yield what the arguments of a call may get; where names say nothing of queries, keys and values, in any order."""
    table = appearances()[component].sizes
    given = ("causal", "base", "heads", "head_dim", "buckets", "distance", "bidirectional")
    options = {
        name: Input(SIZES[name], (table[name][0],), free=False, optional=True) for name in given if name in table
    }
    if "buckets" in table and not isinstance(place.thing, type):
        options["table"] = Input(TABLE, ('weights["table.weight"]', 'weights["table.weight"].T'), free=False)
    required = [p.name for p in parameters(place.thing) if p.default is p.empty]
    named = [n for n in required if any(re.fullmatch(INPUTS[role], n.lower().strip("_")) for role in THREE)]
    if len(named) == 3 or len(required) < 3:
        yield {**{role: Input(INPUTS[role], (f"{role}{{x}}",), free=False) for role in THREE}, **options}
        return
    for order in permutations(THREE):
        words = dict(zip(required, order, strict=False))
        yield {
            **{r: Input(re.escape(n.lower().strip("_")), (f"{r}{{x}}",), free=False) for n, r in words.items()},
            **options,
        }


def readers(raw: Any, request: Request) -> list[str]:
    B, H, L, E = request.out_shape
    found = [text for text, x in tensors_in(raw) if tuple(x.shape) in ((B, H, L, E), (B, L, H, E))]
    return found[:1]


def requests(component: str, fixed: Choice, way: str) -> list[Request]:
    found, known = [], COMPONENTS[component]
    more = {name: x for name, x in {"max_len": 11, "dtype": torch.float64}.items() if known.configures(name)}
    for size in SIZES_:
        for causal in WAYS[way]:
            B, H, L, E = size
            config = known.config(num_heads=H, head_dim=E, causal=causal, **more)
            weights = {"table.weight": drawn(f"table {H}", 32, H)} if known.configures("num_buckets") else {}
            inputs = {name: drawn(f"{name} {size}", B, H, L, E) for name in THREE}
            found.append(Request(component, config, weights, inputs, size))
    return found


def refusals(given: frozenset[str], component: str, way: str) -> list[str]:
    lines, known = list[str](), COMPONENTS[component]
    if way != "free":
        always = way == "always causal"
        words = "attention that is not causal" if always else CAUSAL
        lines += refuse("not config.causal" if always else "config.causal", words)
    if known.configures("base") and "base" not in given:
        lines += refuse("config.base != 10000.0", "an argument for the base")
    if known.configures("num_buckets"):
        lines += refuse("config.cross", "attention to another sequence")
        lines += [] if "buckets" in given else refuse("config.num_buckets != 32", "another number of buckets")
        lines += [] if "distance" in given else refuse("config.max_distance != 128", "another largest distance")
    return lines


def families(place: Place) -> Iterator[Family]:
    """Yield the ways in which attention with positions may take its inputs, and be causal or not."""
    component, known, sizes = place.component, COMPONENTS[place.component], appearances()[place.component].sizes
    asked = partial(requests, component)
    for inputs in inputs_for(component, place):
        for way in WAYS:
            plain = Family(
                component, sizes, inputs, readers, asked, partial(refusals, component=component, way=way),
                states=table_states if known.configures("num_buckets") else None, layouts=LAYOUTS, ways=(way,),
                unless=frozenset(() if way == "free" else ("causal", "bidirectional")),
            )  # fmt: skip
            if "positions" in known.keywords:
                after = partial(with_options, request=asked({}, way)[0], axis=2, like="query")
                plain = replace(plain, limits=unplaced, after=after)
            yield plain


def unplaced(given: frozenset[str]) -> list[str]:
    return [] if "positions" in given else refuse("positions is not None", "an argument for positions")


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function of query, key and value with positions."""
    outcome = seek(place, *families(place))
    if isinstance(outcome, Refusal) or CAUSAL not in outcome.draft.body or "=config.causal" not in outcome.draft.body:
        return outcome
    return with_guard_tried(outcome, CAUSAL, requests(place.component, {}, "always causal")[0], "causal attention")
