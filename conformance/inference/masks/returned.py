"""Where the attention weights are in what something returns, and how they lie there, found by trial."""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import returns_scores
from attnconf.conformance.inference.trials.trial import Certificate, within_rounding

Requests = Callable[..., Any]  # makes up calls
WEIGHTS = ("{r}", "{r}.transpose(0, 1)", "{r}.unflatten(0, (-1, config.num_heads))", "torch.stack(tuple({r}), dim=1)",
           "{r}[:, None]", "{r}.permute(2, 3, 0, 1)", "{r}.permute(0, 3, 1, 2)")  # fmt: skip


def with_weights(place: Place, text: AttentionText, sizes: Any, request: Requests, mistake: str) -> AttentionText:
    """Return the text with where the attention weights are in what comes back, where they are there.

    ``mistake``: the known mistake, if it is one, with which they are compared.
    """
    if text.out == "result" and not text.form.of("want_weights"):
        return text
    B, L, S = 2, 3, 7
    one = request(text, sizes[0], B, L, S, {})
    rows = (B, sizes[0][1], L, L if text.self_only or text.square else S)
    wanting = Certificate(text.component, [_asking(one, rows)])
    out = text.out if text.out != "result" else "result[0] if need_weights else result"
    others = [f"result[{i}]" for i in range(3) if f"result[{i}]" != text.out] if "result['" not in text.out else []
    others = _beside(place, text.out.removeprefix("result.")) if text.out.startswith("result.") else others
    others = [f"{place_of}[None]" for place_of in others] if text.single else others
    for place_of in others:
        for pattern in WEIGHTS:
            candidate = text.but(out=out, weights=pattern.format(r=place_of))
            given = wanting.replies(candidate.implementation(place))
            if wanting.agrees(given, candidate.conventions(), mistake):
                return candidate
    return _averaged(place, text, out, others, one, rows)


def _beside(place: Place, name: str) -> list[str]:
    """Return the other entries of what is returned, which is an object of a dataclass of the file with this entry."""
    kinds = [kind for kind in vars(place.module).values() if isinstance(kind, type) and is_dataclass(kind)]
    entries = [[f.name for f in fields(kind)] for kind in kinds]
    return [f"result.{other}" for each in entries if name in each for other in each if other != name]


def _asking(one: Any, rows: tuple[int, ...]) -> Any:
    return replace(one, weights_shape=rows, averaged_shape=(rows[0], *rows[2:]))


def _averaged(
    place: Place, text: AttentionText, out: str, others: list[str], one: Any, rows: tuple[int, ...]
) -> AttentionText:
    """Return the text for weights that are averaged over the heads, or wrong; without weights where none come back."""
    asked = Certificate(text.component, [_asking(one, rows)])
    for place_of in others:
        if _are_scores(place, text.but(out=out, weights=place_of), asked, place_of):
            words = f"{place_of}: the scores, as it is called, and no weights"
            return text.but(left_alone=(*text.left_alone, words))
        for averaged in (True, False):
            candidate = text.but(out=out, weights=place_of, averaged=averaged)
            given = asked.replies(candidate.implementation(place))
            if given and not isinstance(given[0], Failure) and given[0].weights is not None:
                return candidate
    return text


def _are_scores(place: Place, text: AttentionText, asked: Certificate, place_of: str) -> bool:
    """Return whether what comes back is called scores, does not add up to 1, and nobody asks for weights."""
    found = re.fullmatch(r"result\[(\d)\]", place_of)
    if found is None or text.form.of("want_weights") or not returns_scores(place.thing, int(found[1])):
        return False
    given = asked.replies(text.implementation(place))
    weights = None if not given or isinstance(given[0], Failure) else given[0].weights
    return weights is not None and not within_rounding(float((weights.sum(-1) - 1).abs().max()))
