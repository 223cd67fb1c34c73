"""Bind a class or function as a token embedding."""

import copy
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import CONVENTIONS, SinusoidalConfig, TokenEmbeddingConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.chapters.token_embedding.binding import APPEARANCES
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.inference import over_ids
from attnconf.conformance.inference.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.building import Construction, run, space_for, tensors_of
from attnconf.conformance.inference.calling import parameters
from attnconf.conformance.inference.construction import built, constructions
from attnconf.conformance.inference.filling import calls_of
from attnconf.conformance.inference.padding_id import beside_padding, with_its_padding
from attnconf.conformance.inference.probing import Failed, attempt, found_output, norms_in
from attnconf.conformance.inference.proving import Prover, Reading, nearest_first, prove
from attnconf.conformance.inference.said_of_padding import not_zero
from attnconf.conformance.inference.slots import Slots, refuse
from attnconf.conformance.inference.texts import Text, bound, told
from attnconf.conformance.inference.trial import FAILED, Certificate, Draft, drawn
from attnconf.conformance.inference.vocabulary import fitting, meanings
from attnconf.conformance.source.signatures import parameters_of

COMPONENT = "token_embedding"
TABLE = APPEARANCES["token_embedding"].sizes
SIZES = ((11, 6), (7, 10))  # vocab_size, dim of the trials
# Where names do not say which of two sizes is which.
EITHER = {**TABLE, "vocab": ("config.vocab_size", "config.dim"), "embed": ("config.dim", "config.vocab_size")}
ROWS = 'weights["table.weight"]'
ONE_ROW_MORE = ("config.vocab_size - 1",)  # of items that are counted from 1, id 0 being padding
KINDS = "torch.zeros_like(ids)"  # what else has to be given: of which sentence or kind each token is


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a token embedding, or what stands against it."""
    prover, plain = Prover[Text](place), Certificate(COMPONENT, list(requests(None)))

    def readings(text: Text) -> Iterator[Reading[Text]]:
        for scale in CONVENTIONS["embedding-scale"]:
            yield Reading(text.declaring(embedding_scale=scale), plain)

    proof = prove(prover, (readings(text) for text in texts(place, prover.failures)), nearest_first)
    if proof is None:
        return prover.refusal(f"it can be neither built nor called as {place.component}")
    text = _with_padding(place, proof.hypothesis)
    text = beside_padding(place, text, plain.requests[0])
    text = with_encoding(place, text)
    left = [f"left alone   the norm {name}" for name in text.stripped]
    found = bound(place, proof, text, [*told(text, place.thing), *left])
    of_padding = not_zero(place, _made(place, text, padding=2)) if proof.certified == "reference" else ()
    broken = (*found.broken, *(_over_ids(place, text) if text.more else ()), *of_padding)
    return replace(found, broken=broken, open_ends=(*found.open_ends, *_unjudged(place, text)))


def _over_ids(place: Place, text: Text) -> tuple[str, ...]:
    """Return words on the laws that an embedding with positions breaks."""
    module = _made(place, text, padding=None)
    return over_ids.of_rows(place, module, text.arguments.rpartition("=")[0], text.out) if module is not None else ()


def _made(place: Place, text: Text, padding: int | None) -> Any:
    """Return the object that a text makes, with its weights as it is built; None where it cannot be."""
    config = next(requests(padding)).config
    like = {"table.weight": torch.zeros(config.vocab_size, config.dim, dtype=torch.float64)}
    try:
        return attempt(partial(run, text.made, space_for(config, place.module, weights=like)))
    except Failed:
        return None


def requests(padding: int | None) -> Iterator[Request]:
    """Yield calls in two sizes, with all ids; with padding, some of them are its."""
    for i, (rows, dim) in enumerate(SIZES):
        ids = (torch.arange(15 + i * 6).reshape(3, -1) * 4 + i) % rows
        config = TokenEmbeddingConfig(rows, dim, padding)
        weights = {"table.weight": drawn(f"table {rows}", rows, dim)}
        yield Request(COMPONENT, config, weights, {"ids": ids}, (*ids.shape, dim))


def texts(place: Place, failures: Attempts) -> Iterator[Text]:
    """Yield what a class or function may be, the likeliest first."""
    if not isinstance(place.thing, type):
        yield from _functions(place)
    table = _table_of(place.thing)
    for asked in (table, {**table, "vocab": ONE_ROW_MORE}):
        found = False
        for text in _classes(place, asked, failures):
            found = True
            yield text
        if found:
            return


def _classes(place: Place, table: dict[str, Sequence[str]], failures: Attempts) -> Iterator[Text]:
    """Yield what a class may be whose constructor gets the sizes of a table of meanings."""
    seen = set()
    like = {"table.weight": torch.zeros(SIZES[0], dtype=torch.float64)}
    as_built = partial(built, place, table=table, config=TokenEmbeddingConfig(*SIZES[0]), weights=like)
    for made in constructions(place.name_in_text, place.thing, table, place.module, place.part):
        try:
            whole, thing = as_built(with_its_padding(place, made, as_built))
        except Failed as error:
            failures.say(f"{made.text}: {error}")
            continue
        for text in _of(whole, thing, failures):
            if text.draft().body not in seen:
                seen.add(text.draft().body)
                yield text


def _table_of(thing: Any) -> dict[str, Sequence[str]]:
    """Return what parameters of a constructor may get: vectors that were learnt elsewhere only where it wants some."""
    wanted = {m for p in parameters_of(thing) if p.default is p.empty for m in meanings(p.name)}
    table = TABLE if _sizes_are_named(thing) else EITHER
    return {name: texts for name, texts in table.items() if name != "vectors" or name in wanted}


def _sizes_are_named(thing: Any) -> bool:
    """Return whether the names of a constructor's parameters say which of them is the vocabulary's size."""
    required = [p for p in parameters_of(thing) if p.default is p.empty]
    told = [{"vocab", "embed"} & set(meanings(p.name)) for p in required]
    return sorted(map(sorted, told)) == [["embed"], ["vocab"]] or len(required) < 2


def _of(made: Construction, thing: Any, failures: Attempts) -> Iterator[Text]:
    """Yield what an object may be, by its tensors that are as large as the table."""
    rows, dim = SIZES[0]
    if not callable(thing):
        return
    module = isinstance(thing, nn.Module)
    wanted = [p for p in parameters(thing) if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    given = ("ids", *(KINDS for _ in wanted[1:]))
    words = (f"{p.name}={g}" if p.kind is p.KEYWORD_ONLY else g for p, g in zip(wanted, given, strict=False))
    text = Text(COMPONENT, made, "module" if module else "object", ", ".join(words) or "ids")
    text = text.but(refusals=(*_no_padding(made), *_frozen(made, thing)))
    if module and (norms := tuple(norms_in(thing))):
        text, thing = text.but(stripped=norms), without(thing, *norms)
    ids, fresh = torch.arange(6).reshape(2, 3), copy.deepcopy(thing)  # it may keep what it gave
    for table, x in tensors_of(thing).items():
        if tuple(x.shape) not in ((rows, dim), (dim, rows)):
            continue
        entry = f'"{table}": {ROWS}' if tuple(x.shape) == (rows, dim) else f'"{table}": {ROWS}.T'
        try:
            where = found_output(attempt(partial(_called, thing, text, ids)), (2, 3, dim))
        except Failed as error:
            failures.say(f"called with ({text.arguments}): {error}")
            return
        if where is not None:
            this = text.but(state=(entry,), out=where)
            yield this if not module else without_positions(this, fresh, table, ids)


def _unjudged(place: Place, text: Text) -> tuple[str, ...]:
    """Return a word on norms inside that are left out, but for one that stands behind all the rest."""
    if not text.stripped:
        return ()
    rows, dim = SIZES[0]
    like = {"table.weight": torch.zeros(rows, dim, dtype=torch.float64)}
    ids = torch.arange(6).reshape(2, 3)
    try:
        module = built(place, text.made, TABLE, TokenEmbeddingConfig(rows, dim), like)[1].eval()
        last = module.get_submodule(text.stripped[-1])
        whole = eval(text.out, {"result": attempt(partial(_called, module, text, ids))})
        bare = eval(text.out, {"result": attempt(partial(_called, without(module, *text.stripped), text, ids))})
        behind = len(text.stripped) == 1 and torch.allclose(whole, attempt(partial(last, bare)))
    except Failed:
        behind = False
    return () if behind else (f"the norms {', '.join(text.stripped)} are left out, and not judged",)


def _called(thing: Any, text: Text, ids: Tensor) -> Any:
    """Return what the call of a text gives for some ids."""
    return eval(f"called({text.arguments})", {"called": thing, "ids": ids, "torch": torch})


def _no_padding(made: Construction) -> list[str]:
    if "config.padding_id" in made.text:
        return []
    return refuse("config.padding_id is not None", "a padding token")


def _frozen(made: Construction, thing: Any) -> list[str]:
    """Return that rows which were learnt elsewhere are not trained, where they are frozen."""
    own = list(thing.parameters()) if isinstance(thing, nn.Module) and "vectors" in made.given else []
    if not own or any(p.requires_grad for p in own):
        return []
    return refuse(f"{ROWS}.requires_grad and torch.is_grad_enabled()", "gradients of rows that are frozen")


# -- functions


ROLES = {"ids": r"ids?|x|tokens?|token_ids?|input_ids?|indices|idx|index|inputs?|words|seq|t",
         "table": r"table|weights?|w|e|emb(edding)?s?(_?(table|matrix|weights?))?|matrix|lookup|wte|rows"}  # fmt: skip


def _functions(place: Place) -> Iterator[Text]:
    """Yield the ways to call a function of ids and a table."""

    def choices(p: inspect.Parameter, at: int) -> list[str]:
        if p.default is not p.empty:
            return [""]
        roles = fitting(p.name, ROLES)
        found = [{"ids": "ids", "table": ROWS}[r] for r in roles]
        return [*found, *(t for t in ("ids", ROWS) if t not in found)]

    for arguments in calls_of(place.thing, choices):
        if "ids" in arguments and ROWS in arguments:
            made = Construction(place.name_in_text)
            yield Text(COMPONENT, made, "function", arguments, refusals=tuple(_no_padding(made)))


# -- padding


def _with_padding(place: Place, text: Text) -> Text:
    """Return the text with what a padding token gets, where there is one."""
    if "config.padding_id" not in text.made.text:
        return text
    certificate = Certificate(COMPONENT, list(requests(2)))
    given = certificate.replies(text.implementation(place))
    if given and isinstance(given[-1], Failure):
        return text
    for row in CONVENTIONS["padding-row"]:
        candidate = text.declaring(padding_row=row)
        if certificate.agrees(given, candidate.declares):
            return candidate
    return text


# -- positions inside: with a table of zeros they come out, and with all ids different any x can be its rows


def without_positions(text: Text, fresh: nn.Module, table: str, ids: Tensor) -> Text:
    """Return the text less what a module, not called before, gives for a table of zeros, where that is anything."""
    silent = {table: torch.zeros_like(fresh.get_parameter(table))}

    def quiet(*given: Any, **named: Any) -> Any:
        return torch.func.functional_call(fresh.eval(), silent, given, named)

    try:
        result = attempt(partial(_called, quiet, text, ids))
        still = eval(text.out, {"result": result})
    except (Failed, RuntimeError):
        return text
    if not bool(still.any()):
        return text
    entry, rows = text.state[0].split(": ", 1)
    places = "places = bind(module, fitted(module, {" + f"{entry}: 0 * {rows}" + "}))"
    return text.but(
        more=(places,), after=(f"result = places({text.arguments})", f"out = out - {text.out}  # its positions"),
        refusals=(
            *text.refusals,
            *refuse("config.padding_id is not None", "a padding token beside positions"),
            *refuse('weights["table.weight"].dtype in (torch.float16, torch.bfloat16)', "rows alone in half precision"),
        ),
    )  # fmt: skip


def with_encoding(place: Place, text: Text) -> Text:
    """Return the text with its positions as a component, where they are sinusoidal, or nearly."""
    if not text.more or text.arguments != "ids":
        return text
    encoding = sinusoidal(text)
    plain = Draft("sinusoidal", encoding.source())
    certificate = Certificate("sinusoidal", list(rows_to_encode()))
    given = certificate.replies(plain.implementation(place.module))
    if certificate.distance(given, {}) == FAILED:
        return text
    found: dict[str, str] | None = None
    for declares in [{}, *others_than("sinusoidal", {})]:
        if certificate.agrees(given, declares):
            found = declares
            break
    if found is None and not certificate.mistake(given, {}):
        return text
    shown = {name: (found or {}).get(name, CONVENTIONS[name][0]) for name in ("sinusoidal-output", "sinusoidal-layout")}
    return text.declaring(**{**shown, **(found or {})}).but(beside=(encoding,))


def rows_to_encode() -> Iterator[Request]:
    for dim, length in ((6, 5), (10, 7)):
        x = drawn(f"rows {dim}", 2, length, dim)
        yield Request("sinusoidal", SinusoidalConfig(dim, dtype=torch.float64), {}, {"x": x}, tuple(x.shape))


def sinusoidal(text: Text) -> Slots:
    """Return the slots of ``sinusoidal(config, weights)``: x are the rows of as many ids."""
    made: Any = text.made.text.replace("config.vocab_size", "len(rows)").replace("=64", "=config.max_len")
    made = made.replace('weights["table.weight"]', "rows").replace("=0.1", "=config.dropout")
    refusals = [] if "config.dropout" in made else refuse("config.dropout and config.training", "dropout")
    entry = text.state[0].replace('weights["table.weight"]', "rows")
    masks = [
        *refuse("positions is not None", "positions that are given"),
        "rows = nn.functional.pad(x.flatten(0, 1), (0, 0, 1, 0))  # id 0 may be padding",
        f"module = settle(lambda: {made}, config)",
        "call = bind(module, fitted(module, {" + entry + "}))",
    ]
    call = "call(torch.arange(1, len(rows), device=x.device).reshape(x.shape[:2]))"
    refusals += refuse("config.base != 10000.0", "another base")
    return Slots("sinusoidal", "x, *, positions=None", refusals, masks=masks, call=call, read=text.out)
