"""Two masks in two arguments, given together: a key that either hides is hidden."""

from typing import Any

from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.attention_requests import COMPONENT, request
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.masking import masks_in
from attnconf.conformance.inference.trial import Certificate, within_rounding


def not_joined(place: Place, text: AttentionText, sizes: Any) -> tuple[str, ...]:
    """Return a word on a mask of keys and another mask of which each is right alone, and both together are not.

    The check of this asks for masks in forms that not every argument has, as lengths have not.
    """
    of_keys = next((n for n, m in text.masks.items() if m.keys_only), None)
    other = next((n for n, m in text.masks.items() if not m.keys_only), None)
    if of_keys is None or other is None or text.single:
        return ()
    B, L, S = 3, 6, 6
    keys, explicit = (masks_in(text.masks[name], B, L, S) for name in (of_keys, other))
    explicit["attn_mask"] = explicit["attn_mask"].clone()
    explicit["attn_mask"][..., 0] = keys["key_mask"][:, 0] = True
    asked = [request(text, sizes[0], B, L, S, given) for given in (keys, explicit, {**keys, **explicit})]
    certificate, declares = Certificate(COMPONENT, asked), text.conventions()
    given = certificate.replies(text.implementation(place))
    if not all(isinstance(one, Reply) for one in given) or len(given) < len(asked):
        return ()
    alone = Certificate(COMPONENT, asked[:2]).distance(given[:2], declares)
    if not within_rounding(alone) or certificate.agrees(given, declares):
        return ()
    return (f"the arguments `{of_keys}` and `{other}` of forward, given together, do not hide what either hides",)
