"""What a file's words promise of the row of padding, held against the object as it is built."""

import re
from collections.abc import Sequence
from typing import Any

from torch import nn

from attnconf.conformance.inference.tokens.padding_id import FILLER
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file

_PAD = rf"{FILLER}|パディング"
_ROW = r"vector|vecteur|vettore|vektor|\brow\b|\bzeile|\bligne|\briga\b|\bfila\b|embed(ding|ded)|向量|ベクトル"
_ZERO = r"\bzer(o|os|oes|i)\b(?!.?(grad|length|based|index))|zéro|\bcero|\bnull|ゼロ|零|为 *0|全 *0"
_NOT = r"\b(not|never|nor|non?|nicht|kein\w*|pas|jamais|nunca)\b|n't\b|不|ない"
_OF_IT = r"\s*(its?|this|that|ihr|sein|su|sua|suo|son|sa|ce(tte)?)\b"  # begins a sentence on what the last one named
NOT_ZERO = "the row of padding is said to be zeros, and is not as it is built"


def not_zero(place: Place, module: Any) -> tuple[str, ...]:
    """Return a word on a table whose row of padding holds numbers, as built, where the file says that it is zeros."""
    parts = module.modules() if isinstance(module, nn.Module) else ()
    tables = [part for part in parts if isinstance(part, nn.Embedding) and part.padding_idx is not None]
    full = any(bool(table.weight[table.padding_idx].any()) for table in tables)
    return (NOT_ZERO,) if full and _says_zeros(place) else ()


def _says_zeros(place: Place) -> bool:
    sentences = _with_what_is_meant(re.split(r"[.;。;]", " ".join(said_in_file(place.module))))
    return any(_says(_PAD, s) and _says(_ROW, s) and any(map(_promises, re.split(r"[,,]", s))) for s in sentences)


def _with_what_is_meant(sentences: Sequence[str]) -> list[str]:
    """Return sentences, one on "its row" behind the one before, which says whose: that of the id of padding."""
    pairs = zip(["", *sentences], sentences, strict=False)
    return [f"{before}, {s}" if re.match(_OF_IT, s, re.IGNORECASE) and _says(_ROW, s) else s for before, s in pairs]


def _promises(clause: str) -> bool:
    zero = re.search(_ZERO, clause, re.IGNORECASE)
    return zero is not None and not _says(rf"{_NOT}|gradi|learn|train", clause[: zero.start()])


def _says(words: str, text: str) -> bool:
    return re.search(words, text, re.IGNORECASE) is not None
