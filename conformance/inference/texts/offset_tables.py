"""Vectors of offsets that a class of attention has, for keys and for values: which of its parameters they are.

With one token the vector of a key's offset makes no difference, and that of a value's is added to it: one row of its
table counts. Tables of zeros leave attention as it is. What they do with several tokens is tried, as the rest is.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor, nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.inference.trials.trial import drawn, same_numbers

if TYPE_CHECKING:
    from attnconf.conformance.inference.texts.attention_parts import Seen

FARTHEST = MultiHeadAttentionConfig.max_offset  # k of all calls
FEW = 6  # tokens
GIVEN = "config.max_offset"


def sized_as_offsets(seen: "Seen") -> list[str]:
    """Return the parameters that have an odd number of rows as wide as a head."""
    return [name for name, p in seen.parameters.items() if may_be_offsets(p, seen.sizes.head_dim)]


def may_be_offsets(p: Tensor, width: int) -> bool:
    """Return whether a parameter has as many rows of a head's width as there are offsets, -k … k."""
    if isinstance(p, nn.parameter.UninitializedParameter) or p.ndim != 2:
        return False
    return p.shape[1] == width and p.shape[0] % 2 == 1 and p.shape[0] > 2 * FARTHEST


def tables_of_offsets(seen: "Seen") -> dict[str, str]:
    """Return the parameters that are tables of offsets, as "keys" and "values"; none where it is not seen which."""
    names = sized_as_offsets(seen)
    if not 0 < len(names) < 3:
        return {}
    tokens = drawn("offsets", FEW, seen.sizes.embed)
    acting = {name: _acts(seen, name) for name in names}
    plain = seen.out({}, tokens)
    idle = [name for name in names if same_numbers(seen.out(seen.all(name, 0.0), tokens), plain)]
    if len(idle) == len(names) or (len(names) == 1 and acting[names[0]]):
        return {}
    if len(names) == 2 and (idle or len(set(acting.values())) == 1):
        names.sort(key=lambda name: (name in idle, _says_values(name)))
    else:
        names.sort(key=lambda name: acting[name])
    return dict(zip(("keys", "values"), names, strict=False))


def _acts(seen: "Seen", name: str) -> bool:
    """Return whether a table makes a difference to one token."""
    try:
        return bool(seen.slope(name).any())
    except RuntimeError:  # nothing is made of it
        return False


def _says_values(name: str) -> bool:
    return re.search(r"v(al(ue)?s?)?(_?(table|emb\w*|weight))*$", name.lower()) is not None


def entry_of(seen: "Seen", role: str, name: str, made: str) -> str:
    """Return the entry of a table in a state: of the rows that a constructor was asked for, or of more of its own."""
    text = f'weights["relative_{role}.weight"]'
    rows = len(seen.parameters[name])
    if GIVEN in made and rows == 2 * FARTHEST + 1:
        return f'"{name}": {text}'
    farthest = rows // 2
    offsets = f"torch.arange(-{farthest}, {farthest + 1}).clamp(-{GIVEN}, {GIVEN})"
    return f'"{name}": {text}[{offsets} + {GIVEN}]'


def idle_tables(seen: "Seen", tables: Mapping[str, str]) -> dict[str, Tensor]:
    """Return the tables with zeros, which leave attention as it is."""
    return {key: value for name in tables.values() for key, value in seen.all(name, 0.0).items()}
