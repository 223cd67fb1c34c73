"""The forms in which an argument of a layer may take a mask: its shape, its dtype, and what its values mean."""

from collections.abc import Mapping

from attnconf.conformance.inference.layer_text import LayerMask
from attnconf.conformance.inference.masking import SHAPES

LIKE = "next(iter(weights.values()))"
# The last as (1 - mask)·-1e9 takes masks that are added too, and does something else with them.
KINDS = (
    ("true-keeps", "{m}"),
    ("true-drops", "~{m}"),
    ("1-keeps", f"{{m}}.to({LIKE}.dtype)"),
    ("1-keeps, integers", "{m}.long()"),
    ("1-drops", f"(~{{m}}).to({LIKE}.dtype)"),
    ("1-drops, integers", "(~{m}).long()"),
    ("additive", f"additive({{m}}, None, {LIKE})"),
)
_FORMS = {
    f"{shape} {kind}": LayerMask(pattern.format(m=text), f"{shape} {kind}", "self", keys)
    for shape, text, keys in SHAPES
    if not shape.startswith("lengths")
    for kind, pattern in KINDS
}
_LENGTHS = next(LayerMask(text, shape, "self", keys) for shape, text, keys in SHAPES if shape.startswith("lengths"))
FILLED: Mapping[str, LayerMask] = {**_FORMS, "lengths (B,)": _LENGTHS}
