"""A mask of keys and another mask, in two arguments of attention, given together."""

from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.masks.forms import mask_forms
from attnconf.conformance.inference.masks.search import masks_in
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, request
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate, within_rounding


def joined(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with a narrower form for the other mask, if only so a mask of keys can be given beside it."""
    certificate = _asked(text, sizes)
    if certificate is None:
        return text
    _, alone, together = _replies(certificate, place, text)
    if isinstance(alone, Failure) or not isinstance(together, Failure):
        return text
    of_keys, other = _two(text)
    wide = text.masks[other]
    for form in mask_forms(text):
        narrow = text.but(masks={**text.masks, other: form})
        alike = form.kind == wide.kind and not form.keys_only and form != wide
        if alike and certificate.agrees(_replies(certificate, place, narrow), narrow.conventions()):
            words = f"{other} as {wide.told.removesuffix(wide.kind).strip()}: it is not taken beside {of_keys}"
            return narrow.but(left_alone=(*text.left_alone, words))
    return text


def not_joined(place: Place, text: AttentionText, sizes: Any) -> tuple[str, ...]:
    """Return a word on a mask of keys and another mask of which each is right alone, and both together are not.

    The check of this asks for masks in forms that not every argument has, as lengths have not.
    """
    certificate = _asked(text, sizes)
    if certificate is None:
        return ()
    given, declares = _replies(certificate, place, text), text.conventions()
    if not all(isinstance(one, Reply) for one in given):
        return ()
    alone = Certificate(COMPONENT, certificate.requests[:2]).distance(given[:2], declares)
    if not within_rounding(alone) or certificate.agrees(given, declares):
        return ()
    of_keys, other = _two(text)
    return (f"the arguments `{of_keys}` and `{other}` of forward, given together, do not hide what either hides",)


def _replies(certificate: Certificate, place: Place, text: AttentionText) -> list[Reply | Failure]:
    """Return the replies to a mask of keys, to another one, and to both; a failure ends them."""
    given = certificate.replies(text.implementation(place))
    return [*given, *given[-1:] * (3 - len(given))]


def _two(text: AttentionText) -> tuple[str, str]:
    """Return the arguments for a mask of keys and for another mask; "" for what there is not."""
    of_keys = next((n for n, m in text.masks.items() if m.keys_only), "")
    return of_keys, next((n for n, m in text.masks.items() if not m.keys_only), "")


def _asked(text: AttentionText, sizes: Any) -> Certificate | None:
    """Return calls with a mask of keys, with another mask, and with both; None where there are not both."""
    of_keys, other = _two(text)
    if not of_keys or not other or text.single:
        return None
    B, L, S = 3, 6, 6
    keys, explicit = (masks_in(text.masks[name], B, L, S) for name in (of_keys, other))
    explicit["attn_mask"] = explicit["attn_mask"].clone()
    explicit["attn_mask"][..., 0] = keys["key_mask"][:, 0] = True
    asked: list[Request] = [request(text, sizes[0], B, L, S, given) for given in (keys, explicit, {**keys, **explicit})]
    return Certificate(COMPONENT, asked)
