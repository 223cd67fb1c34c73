"""Bind a class or function as a token embedding."""

import copy
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.adapters.contract import CONVENTIONS, TokenEmbeddingConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.chapters.token_embedding.binding import APPEARANCES
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Construction, tensors_of
from attnconf.conformance.inference.building.construction import built, constructions
from attnconf.conformance.inference.drafts.texts import Text, bound, told
from attnconf.conformance.inference.tokens import over_ids
from attnconf.conformance.inference.tokens.claimed_ties import copied_beside
from attnconf.conformance.inference.tokens.embedding_positions import (
    SIZES,
    adds_what_is_fixed,
    called_for,
    made_of,
    with_encoding,
    without_positions,
)
from attnconf.conformance.inference.tokens.padding_id import beside_padding, with_its_padding, with_padding_zero
from attnconf.conformance.inference.tokens.said_of_padding import not_zero
from attnconf.conformance.inference.trials.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output, norms_in
from attnconf.conformance.inference.trials.proving import Prover, Reading, nearest_first, prove
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import Certificate, drawn
from attnconf.conformance.inference.words.vocabulary import fitting, meanings
from attnconf.conformance.source.signatures import parameters_of

COMPONENT = "token_embedding"
TABLE = APPEARANCES["token_embedding"].sizes
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
    if text.padded:  # but for the id of padding it is the textbook's
        proof = replace(proof, certified="reference")
    text = with_encoding(place, text)
    left = [f"left alone   the norm {name}" for name in text.stripped]
    found = bound(place, proof, text, [*told(text, place.thing), *left])
    says_zero = proof.certified == "reference" and not _blanks_padding(place, text)
    of_padding = not_zero(place, made_of(place, text, padding=2)) if says_zero else ()
    copies = copied_beside(place, made_of(place, text, padding=None))
    broken = (*found.broken, *(_over_ids(place, text) if text.more else ()), *of_padding, *copies)
    return replace(found, broken=broken, open_ends=(*found.open_ends, *_unjudged(place, text)))


def _over_ids(place: Place, text: Text) -> tuple[str, ...]:
    """Return words on the laws that an embedding with positions breaks."""
    module = made_of(place, text, padding=None)
    return over_ids.of_rows(place, module, text.arguments.rpartition("=")[0], text.out) if module is not None else ()


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
    seen: set[str] = set()
    like = {"table.weight": torch.zeros(SIZES[0], dtype=torch.float64)}
    as_built = partial(built, place, table=table, config=TokenEmbeddingConfig(*SIZES[0]), weights=like)
    for made in constructions(place.name_in_text, place.thing, table, place.module, place.part):
        padded = with_its_padding(place, made, as_built)
        for one in dict.fromkeys((padded, with_padding_zero(padded))):
            try:
                whole, thing = as_built(one)
            except Failed as error:
                failures.say(f"{one.text}: {error}")
                continue
            found = [text for text in _of(whole, thing, failures) if text.draft().body not in seen]
            seen.update(text.draft().body for text in found)
            yield from found
            if found:
                break


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
            where = found_output(attempt(partial(called_for, thing, text, ids)), (2, 3, dim))
        except Failed as error:
            failures.say(f"called with ({text.arguments}): {error}")
            return
        if where is not None:
            this = text.but(state=(entry,), out=where)
            yield this if not module else without_positions(this, fresh, table, ids)


def _unjudged(place: Place, text: Text) -> tuple[str, ...]:
    """Return a word on norms inside that are left out, but for one that stands behind all the rest."""
    if text.more and not text.beside and adds_what_is_fixed(place, text):
        return ("the positions that it adds are fixed and none that are known: they are set aside, and not judged",)
    if not text.stripped:
        return ()
    rows, dim = SIZES[0]
    like = {"table.weight": torch.zeros(rows, dim, dtype=torch.float64)}
    ids = torch.arange(6).reshape(2, 3)
    try:
        module = built(place, text.made, TABLE, TokenEmbeddingConfig(rows, dim), like)[1].eval()
        last = module.get_submodule(text.stripped[-1])
        whole = eval(text.out, {"result": attempt(partial(called_for, module, text, ids))})
        bare = eval(text.out, {"result": attempt(partial(called_for, without(module, *text.stripped), text, ids))})
        behind = len(text.stripped) == 1 and torch.allclose(whole, attempt(partial(last, bare)))
    except Failed:
        behind = False
    return () if behind else (f"the norms {', '.join(text.stripped)} are left out, and not judged",)


def _blanks_padding(place: Place, text: Text) -> bool:
    """Return whether padding comes out as zeros, whatever its row is."""
    try:
        result = attempt(partial(called_for, made_of(place, text, padding=2), text, torch.tensor([[2, 2]])))
        return not bool(eval(text.out, {"result": result}).any())
    except (Failed, TypeError):
        return False


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
