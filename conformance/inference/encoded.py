"""Embeddings that add positions by themselves: the rows without these, and the positions as an encoding of their own.

With a table of zeros such a class gives its positions; with all ids different, any x can be the rows of its table.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import CONVENTIONS, SinusoidalConfig
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.translate import others_than
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.slots import Slots, refuse
from attnconf.conformance.inference.texts import Text
from attnconf.conformance.inference.trial import FAILED, Certificate, Draft, drawn


def without_positions(text: Text, fresh: nn.Module, table: str, ids: Tensor) -> Text:
    """Return the text less what a module, not called before, gives for a table of zeros, where that is anything."""
    silent = {table: torch.zeros_like(fresh.get_parameter(table))}
    try:
        result = attempt(lambda: torch.func.functional_call(fresh.eval(), silent, (ids,)))
        still = eval(text.out, {"result": result})
    except (Failed, RuntimeError):
        return text
    if not bool(still.any()):
        return text
    entry, rows = text.state[0].split(": ", 1)
    places = "places = bind(module, fitted(module, {" + f"{entry}: 0 * {rows}" + "}))"
    return text.but(
        more=(places,), after=("result = places(ids)", f"out = out - {text.out}  # its positions"),
        refusals=(
            *text.refusals,
            *refuse("config.padding_id is not None", "a padding token beside positions"),
            *refuse('weights["table.weight"].dtype in (torch.float16, torch.bfloat16)', "rows alone in half precision"),
        ),
    )  # fmt: skip


def with_encoding(place: Place, text: Text) -> Text:
    """Return the text with its positions as a component, where they are sinusoidal, or nearly."""
    if not text.more:
        return text
    encoding = sinusoidal(text)
    plain = Draft("sinusoidal", encoding.source())
    certificate = Certificate("sinusoidal", list(requests()))
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


def requests() -> Iterator[Request]:
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
