"""Layers that are handed tables of angles, or told how wide a head is: judged with those once the rest is known."""

from collections.abc import Callable
from functools import partial

from attnconf.conformance.inference.layers.wide_heads import of_wide_heads
from attnconf.conformance.inference.positions.own_tables import with_tables
from attnconf.conformance.inference.texts.layer_requests import plain_requests
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place


def turned(place: Place, text: LayerText) -> tuple[LayerText, str | None, tuple[str, ...]]:
    """Return the text with tables that turn, the known mistake that it has with them, and what wide heads show."""
    if "rotary-inside" not in text.known.conventions or text.known.reads_ids:
        return text, None, ()
    broken = of_wide_heads(place, text)
    text, mistake = with_tables(place, text, "10000.0", _ways(text), plain_requests)
    return text, mistake, broken


def _ways(text: LayerText) -> list[Callable[[LayerText], LayerText]]:
    """Return what declares that queries and keys are turned: in which pairs, and before or after their norms."""
    places = ("before", "after") if "qk-norm" in text.declares else ("",)
    return [partial(_in_pairs, pair, at) for pair in ("half", "interleaved") for at in places]


def _in_pairs(pair: str, normed_at: str, text: LayerText) -> LayerText:
    at = {"qk-norm-place": normed_at} if normed_at else {}
    return text.but(declares={**text.declares, "rotary-inside": pair, **at})
