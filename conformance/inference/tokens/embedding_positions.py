"""The positions that an embedding adds: with a table of zeros they come out, and are judged as an encoding.

With all ids different any x can be its rows.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import CONVENTIONS, SinusoidalConfig, TokenEmbeddingConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.inference.building.building import run, space_for
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.slots import Slots, refuse
from attnconf.conformance.inference.trials.trial import FAILED, Certificate, Draft, drawn

SIZES = ((11, 6), (7, 10))  # vocab_size, dim of the trials


def made_of(place: Place, text: Text, padding: int | None) -> Any:
    """Return the object that a text makes, with its weights as it is built; None where it cannot be."""
    config = TokenEmbeddingConfig(*SIZES[0], padding)
    like = {"table.weight": torch.zeros(config.vocab_size, config.dim, dtype=torch.float64)}
    try:
        return attempt(partial(run, text.made, space_for(config, place.module, weights=like)))
    except Failed:
        return None


def called_for(thing: Any, text: Text, ids: Tensor) -> Any:
    """Return what the call of a text gives for some ids."""
    return eval(f"called({text.arguments})", {"called": thing, "ids": ids, "torch": torch})


def adds_what_is_fixed(place: Place, text: Text) -> bool:
    """Return whether something is left where all parameters are zero."""
    module = made_of(place, text, padding=None)
    if not isinstance(module, nn.Module):
        return module is not None
    silent = {name: torch.zeros_like(p) for name, p in module.named_parameters()}
    try:
        quiet = partial(torch.func.functional_call, without(module.eval(), *text.stripped), silent)
        result = attempt(partial(called_for, lambda *given: quiet(given), text, torch.arange(6).reshape(2, 3)))
        return bool(eval(text.out, {"result": result}).any())
    except (Failed, RuntimeError):
        return False


def without_positions(text: Text, fresh: nn.Module, table: str, ids: Tensor) -> Text:
    """Return the text less what a module, not called before, gives for a table of zeros, where that is anything."""
    silent = {table: torch.zeros_like(fresh.get_parameter(table))}

    def quiet(*given: Any, **named: Any) -> Any:
        return torch.func.functional_call(fresh.eval(), silent, given, named)

    try:
        result = attempt(partial(called_for, quiet, text, ids))
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
    """Return the text with its positions as a component, where they are sinusoidal, or nearly.

    Where the rows are multiplied by √E, x are the products, or the rows if something more is multiplied by that.
    """
    if not text.more or text.arguments != "ids":
        return text
    scaled = text.declares.get("embedding-scale") == "sqrt"
    for unscaled in (" / config.dim**0.5", "") if scaled else ("",):
        encoding = sinusoidal(text, unscaled)
        found = _conventions_of(encoding, place)
        if found is not None:
            named = ("sinusoidal-output", "sinusoidal-layout")
            shown = {name: found.get(name, CONVENTIONS[name][0]) for name in named}
            return text.declaring(**{**shown, **found}).but(beside=(encoding,))
    return text


def _conventions_of(encoding: Slots, place: Place) -> dict[str, str] | None:
    """Return the conventions in which an encoding is the textbook's, none where a mistake is known; None otherwise."""
    certificate = Certificate("sinusoidal", list(rows_to_encode()))
    given = certificate.replies(Draft("sinusoidal", encoding.source()).implementation(place.module))
    if certificate.distance(given, {}) == FAILED:
        return None
    for declares in [{}, *others_than("sinusoidal", {})]:
        if certificate.agrees(given, declares):
            return declares
    return {} if certificate.mistake(given, {}) else None


def rows_to_encode() -> Iterator[Request]:
    for dim, length in ((6, 5), (10, 7)):
        x = drawn(f"rows {dim}", 2, length, dim)
        yield Request("sinusoidal", SinusoidalConfig(dim, dtype=torch.float64), {}, {"x": x}, tuple(x.shape))


def sinusoidal(text: Text, unscaled: str = "") -> Slots:
    """Return the slots of ``sinusoidal(config, weights)``: x are the rows of as many ids, once these are multiplied."""
    made: Any = text.made.text.replace("config.vocab_size", "len(rows)").replace("=64", "=config.max_len")
    made = made.replace('weights["table.weight"]', "rows").replace("=0.1", "=config.dropout")
    refusals = [] if "config.dropout" in made else refuse("config.dropout and config.training", "dropout")
    entry = text.state[0].replace('weights["table.weight"]', "rows")
    masks = [
        *refuse("positions is not None", "positions that are given"),
        f"rows = nn.functional.pad(x.flatten(0, 1){unscaled}, (0, 0, 1, 0))  # id 0 may be padding",
        f"module = settle(lambda: {made}, config)",
        "call = bind(module, fitted(module, {" + entry + "}))",
    ]
    call = "call(torch.arange(1, len(rows), device=x.device).reshape(x.shape[:2]))"
    refusals += refuse("config.base != 10000.0", "another base")
    return Slots("sinusoidal", "x, *, positions=None", refusals, masks=masks, call=call, read=text.out)
