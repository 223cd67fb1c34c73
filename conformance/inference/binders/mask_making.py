"""Bind functions that make masks: of what they are told, and what the values that come back mean."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import CausalMaskConfig, PaddingMaskConfig
from attnconf.conformance.chapters.contents import appearances, meanings
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.drafts.drafts import Choice, Family, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import Input, arguments_of
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.words.mask_words import votes
from attnconf.conformance.inference.words.vocabulary import SIZES, snake

LENGTH = (
    r"n|t|l|s|i|size|sz|dim|length|max_?len(gth)?|.*seq_?len(gth)?|.*(q|query|tgt|trg|target|t)_?len(gth)?|total_?len|"
    r"len_?q|"
    r"context_?(len(gth)?|size)|block_?size|n_?(tokens|queries|query|positions|steps)|(num|new)_?(tokens|queries|steps)|queries|qlen|"
    r"laenge|länge|longueur|longitud|largo|lunghezza|steps|sequence_?length|target_?size"
)
KEYS = (
    r"k_?len(gth)?|key_?len(gth)?|klen|lk|s|m|len_?k|n_?keys?|num_?keys|keys|kv_?len(gth)?|(src|source|s)_?len(gth)?|"
    r"total_?len(gth)?|k"
)
PAST = r"past\w*|offset|cached?_?\w*|start(_?pos)?|(n_?)?passe|previous|prefix_?len|history|memory_?len|shift"
IDS = (
    r"(?!.*(pad|fill))((.*_)?(ids?|tokens?|seqs?|sequences?|src|source|tgt|trg|target|words|q|k)|x|y|inputs?|seq_?[qk]|"
    r"batch|jetons|fichas|"
    r"inp|tar|dec_?inputs?|enc_?inputs?)"
)
LENGTHS = (
    r"(.*_)?(lengths?|lens?)|n|seq_?lens?|longueurs?|longitudes|lunghezze|laengen|längen|sizes|valid\w*|comprimentos"
)
SOURCE = r"(src|source|enc(oder)?|inp(ut)?s?)(_?(ids?|tokens?|seqs?|inputs?))?"
TARGET = r"(tgt|trg|tar|target|dec(oder)?)(_?(ids?|tokens?|seqs?|inputs?|inp))?"
AROUND = {
    "device": Input("device", ("config.device",), free=False, optional=True),
    "dtype": Input("dtype", ("config.dtype",), free=False),
    "batch": Input(r"b|bs|bsz|batch_?size|n_?batch|(num_?|n_?)?heads?|h", ("2",), free=False, optional=True),
}
LIKE = (  # with 0 among the ids: what hides padding besides is no causal mask
    "(torch.arange(2 * query_length, device=config.device) % 3).view(2, -1)",
    "torch.ones(2, query_length, 3, device=config.device)",
)
CAUSAL: Mapping[str, Input] = {
    "query_length": Input(LENGTH, ("query_length",), optional=True),
    "key_length": Input(KEYS, ("key_length",), free=False, optional=True),
    "past": Input(PAST, ("key_length - query_length",), free=False, optional=True),
    "shape": Input(r"(input_?(ids_?)?)?shape|size", ("(2, query_length)",), free=False),
    "x": Input(IDS + r"|tensor|emb\w*|hidden\w*|h", LIKE),
    **AROUND,
}
PADDING_ID = Input(SIZES["padding"], ("config.padding_id",), free=False, optional=True)
FROM_IDS = {"ids": Input(IDS, ("tokens",)), "padding": PADDING_ID, **AROUND}
FROM_LENGTHS = {
    "lengths": Input(LENGTHS, ("tokens",)),
    "length": Input(LENGTH + r"|max\w*|total\w*", ("config.length",), optional=True),
    **AROUND,
}

# What is done to a mask of some shape, {r}, so that it is one for each query and key.
CAUSAL_FORMS = {2: "{r}", 3: "{r}[0]", 4: "{r}[0, 0]"}
EACH = "{r}.expand(-1, config.length, -1)"
PADDING_FORMS = {
    ("B", "L"): "{r}[:, None].expand(-1, config.length, -1)", ("B", 1, "L"): EACH,
    ("B", 1, 1, "L"): "{r}[:, 0].expand(-1, config.length, -1)",
    ("B", 1, "L", 1): "{r}[:, 0].expand(-1, -1, config.length)",
}  # fmt: skip
WHOLE_FORMS = {("B", "L", "L"): "{r}", ("B", 1, "L", "L"): "{r}[:, 0]"}


# -- what came back


def values_of(mask: Tensor) -> tuple[str, ...]:
    """Return what the values of a mask (…, L, S) may mean, the likelier first: a full row's last query sees its first.

    The other is what it may be by mistake.
    """
    seen = mask.reshape(-1, *mask.shape[-2:])[0, -1, 0]
    if mask.dtype == torch.bool or bool(((mask == 0) | (mask == 1)).all()):
        kind = "true" if mask.dtype == torch.bool else "1"
        likely = (f"{kind}-keeps", f"{kind}-drops")
        return likely if bool(seen == 1) else likely[::-1]
    return ("additive",) if not bool((mask > 0).any()) else ()


def readings(raw: Any, request: Request, forms: Any) -> list[str]:
    """Return expressions of ``result`` that are a mask; ``forms``: of a shape, what makes one of it, or None."""
    found = []
    for text, array in tensors_in(raw):
        if (form := forms(tuple(array.shape), request.out_shape)) is not None:
            whole = form.format(r=text)
            mask = eval(whole, {"result": raw, "config": request.config, "torch": torch})  # a text of our own
            found += [f"shown({whole}, {values!r}, config)" for values in values_of(mask)]
    return found


def causal_form(shape: tuple[int, ...], wanted: tuple[int, ...]) -> str | None:
    return CAUSAL_FORMS.get(len(shape)) if shape[-2:] == wanted else None


def padding_form(shape: tuple[int, ...], wanted: tuple[int, ...], whole: bool) -> str | None:
    """Return what makes (B, L, L) of a shape; ``whole``: it has to have rows for queries already."""
    B, L, _ = wanted
    forms = WHOLE_FORMS if whole else {**PADDING_FORMS, **WHOLE_FORMS}
    sizes = {"B": B, "L": L, 1: 1}
    return next((form for axes, form in forms.items() if tuple(sizes[a] for a in axes) == shape), None)


# -- what is asked


def causal_requests(fixed: Choice, way: str) -> list[Request]:
    config = CausalMaskConfig(torch.float64)
    asked = ({"query_length": n, "key_length": n} for n in (5, 7))
    return [Request("causal_mask", config, {}, given, (n, n)) for given in asked for n in (given["query_length"],)]


def padding_requests(component: str, fixed: Choice, way: str) -> list[Request]:
    """Return calls with rows that end, of ids also with padding elsewhere; the first row of each is full."""
    told = fixed["padding-from"]
    ids = [[[3, 1, 4, 1, 5], [9, 2, 6, 0, 0], [5, 0, 0, 0, 0]], [[2, 7, 1, 8, 2, 8], [0, 0, 4, 5, 0, 9]]]
    rows = [torch.tensor(each) for each in ids]
    given = rows if told == "ids" else [torch.tensor([5, 3, 1]), torch.tensor([6, 4])]
    found = []
    for row, x in zip(rows, given, strict=True):
        B, L = row.shape
        found.append(Request(component, PaddingMaskConfig(L, 0, told, torch.float64), {}, {"tokens": x}, (B, L, L)))
    return found


def one_length(given: frozenset[str]) -> list[str]:
    both = given & {"key_length", "past"}
    return [] if both else refuse("query_length != key_length", "queries that are not the keys")


def own_padding(given: frozenset[str]) -> list[str]:
    return [] if "padding" in given else refuse("config.padding_id", "another id of padding than 0")


OTHER_ROWS = ("tokens.flip(0)",)


def of_two_sides(component: str, thing: Any) -> Mapping[str, Input]:
    """Return the inputs of what takes the ids of a source and of a target: the side that is not asked for has others.

    Masks of padding are those of its source, and those of a decoder of its target.
    """
    names = [snake(p.name) for p in arguments_of(thing)]
    sides = {"source": SOURCE, "target": TARGET}
    if not all(any(re.fullmatch(side, name) for name in names) for side in sides.values()):
        return FROM_IDS
    other = "target" if component == "padding_mask" else "source"
    others = {name: i for name, i in FROM_IDS.items() if name != "ids"}
    own = "source" if other == "target" else "target"
    both = {own: Input(sides[own], ("tokens",), free=False), other: Input(sides[other], OTHER_ROWS, free=False)}
    return {**both, **others}


def families(component: str, thing: Any) -> Iterator[Family]:
    """Yield how something may be called as what makes masks: of lengths alone; of ids; of the lengths of rows."""
    if component == "causal_mask":
        forms = partial(readings, forms=causal_form)
        yield Family(component, {}, CAUSAL, forms, causal_requests, limits=one_length, after=told)
        return
    forms = partial(readings, forms=partial(padding_form, whole=component == "decoder_mask"))
    sizes, view = appearances()[component].sizes, meanings()[component]
    for way, inputs in (("ids", of_two_sides(component, thing)), ("lengths", FROM_LENGTHS)):
        yield Family(
            component, sizes, inputs, forms, partial(padding_requests, component),
            refusals=own_padding if way == "ids" else lambda given: [], fixed=({"padding-from": way},), view=view,
            after=told,
        )  # fmt: skip


def told(place: Place, text: Text) -> Text:
    """Return the text with what the values of its mask mean among its conventions."""
    values = re.search(r"shown\(.*, '([\w-]+)', config\)", text.out)
    return text.declaring(mask=values[1]) if values else text


OWN_WORD = r"key_?padding|ignor|block|hid|keep|valid|visib|allow"  # in a name: it may be the exception of its file


def contradicted(place: Place, values: str) -> str:
    """Return what a function says of the values of its mask, or else its file of all of them, if it is not so."""
    own = inspect.getdoc(place.thing) or ""
    of_file = "" if re.search(OWN_WORD, snake(place.name)) else place.module.__doc__ or ""
    said = set(votes(own)) or set(votes(of_file))
    kind, _, does = values.partition("-")
    if len(said) != 1 or said == {does} or kind not in ("true", "1"):
        return ""
    return f"{kind.capitalize()} {does} in the mask of `{place.name}`, and the file says that it {said.pop()}"


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a function that makes masks."""
    found = seek(place, *families(place.component, place.thing))
    if isinstance(found, Refusal):
        return found
    values = found.draft.declares.get("mask", "")
    wanted = place.prescribed.get("mask", values)
    words = f"what `{place.name}` makes is {values}, and {wanted} is prescribed" if values != wanted else ""
    words = words or contradicted(place, values)
    return replace(found, broken=(*found.broken, words)) if words else found


def together(bound: Sequence[Bound]) -> list[Bound]:
    """Return bindings, those of one function with each other: it makes several masks, and each is judged."""
    found: list[Bound] = []
    for b in bound:
        if not found or found[-1].place.name != b.place.name:
            found.append(b)
            continue
        first = found[-1]
        draft = replace(
            first.draft, body=f"{first.draft.body}\n\n{b.draft.body}", also=(b.draft.component,),
            declares={x.draft.component: dict(x.draft.declares) for x in (first, b)},
        )  # fmt: skip
        certified = b.certified if first.certified == "reference" else first.certified
        broken = tuple(dict.fromkeys((*first.broken, *b.broken)))
        found[-1] = replace(first, draft=draft, certified=certified, told=(*first.told, *b.told), broken=broken)
    return found
